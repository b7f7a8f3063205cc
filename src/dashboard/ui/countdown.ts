/** The seconds until a new attempt makes sense. */
import { useEffect, useState } from 'preact/hooks'

/** Counts from `seconds` down to 0. It begins anew when `since` changes, for example with each failure. */
export function useCountdown(seconds: number, since: unknown): number {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    setLeft(seconds)
    if (seconds <= 0) return
    const timer = setInterval(() => setLeft((before) => Math.max(before - 1, 0)), 1_000)
    return () => clearInterval(timer)
  }, [since])
  return left
}
