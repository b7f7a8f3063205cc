/** Limits what each network of clients may begin in a minute. */
import { MINUTE_MS, type Now } from '../../../../base/clock.ts'
import { createWindowLimit } from '../../../../work/limiter.ts'
import { LoginFailure } from './login-failure.ts'

/** The function counts one. @throws LoginFailure too_many_attempts */
export function createNetworkLimit(perMinute: number, now: Now): (network: string) => void {
  const limit = createWindowLimit({ limit: perMinute, windowMs: MINUTE_MS, now })
  return (network) => {
    const attempt = limit.begin(network)
    if (typeof attempt === 'number') {
      throw new LoginFailure('too_many_attempts', `more than ${perMinute} in a minute`)
    }
    attempt.counted()
  }
}
