/** A write that a button starts: whether it runs, and the failure that is shown beside the button. */
import { useState } from 'preact/hooks'

export type Action = {
  isRunning: boolean
  error: unknown
  /** Resolves to whether it succeeded. A second call while one runs does nothing. */
  run(write: () => Promise<unknown>): Promise<boolean>
  clear(): void
}

export function useAction(): Action {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = async (write: () => Promise<unknown>) => {
    if (isRunning) return false
    setRunning(true)
    setError(null)
    try {
      await write()
      return true
    } catch (failure) {
      setError(failure)
      return false
    } finally {
      setRunning(false)
    }
  }
  return { isRunning, error, run, clear: () => setError(null) }
}
