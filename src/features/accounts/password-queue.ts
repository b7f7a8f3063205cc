/**
 * Bounds the passwords that wait to be hashed for one kind of request. Hashing takes turns in the whole
 * process (`passwords.ts`), so a longer line would only delay log-ins.
 */
import { AppError } from '../../errors.ts'
import { createSemaphore, SemaphoreRefused } from '../../outbound/semaphore.ts'
import { hashPassword } from './passwords.ts'

/** @throws AppError EXTERNAL_SERVICE_ERROR (503) when too many wait */
export type HashInTurn = (password: string) => Promise<string>

const MAX_WAITING = 10
const RETRY_AFTER_SECONDS = 2

export function createHashQueue(): HashInTurn {
  const turns = createSemaphore({ atOnce: 1, waiting: MAX_WAITING })
  return async (password) => {
    try {
      return await turns.take(() => hashPassword(password))
    } catch (error) {
      if (!(error instanceof SemaphoreRefused)) throw error
      throw new AppError('EXTERNAL_SERVICE_ERROR', 'The server is busy with other passwords.', {
        details: { retryAfter: RETRY_AFTER_SECONDS },
      })
    }
  }
}
