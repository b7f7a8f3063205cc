/** An authenticator app. */
import { Secret, TOTP } from 'otpauth'

/** The code that the app shows `steps` of 30 s after `at` (epoch ms). `secret`: base32. */
export function codeOf(secret: string, at: number, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: at + steps * 30_000,
  })
}
