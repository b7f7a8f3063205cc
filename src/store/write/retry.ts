import { isTransientDatabaseError } from '../database-error.ts'

/**
 * Runs `act` until it succeeds, as long as the database cannot be written. `wait` passes the time
 * before the next try; it resolves to false to end the tries.
 * @throws any other error at once; the last error once `wait` has ended the tries
 */
export async function retryWhileUnwritable(
  act: () => Promise<unknown>,
  wait: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    try {
      await act()
      return
    } catch (error) {
      if (!isTransientDatabaseError(error) || !(await wait())) throw error
    }
  }
}
