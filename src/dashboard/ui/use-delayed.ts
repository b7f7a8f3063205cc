/** A value that follows another once that has rested. */
import { useEffect, useState } from 'preact/hooks'

export function useDelayed<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
