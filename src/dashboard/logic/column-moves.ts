/** Columns that are shown, hidden and moved. */
import type { Arrangement } from './columns.ts'

/** Shows the column, as the last one, or hides it. */
export function withShown(arrangement: Arrangement, key: string, isShown: boolean): Arrangement {
  const others = arrangement.shown.filter((one) => one !== key)
  return { ...arrangement, shown: isShown ? [...others, key] : others }
}

/** Moves the column by so many places among those that are shown. */
export function withMoved(arrangement: Arrangement, key: string, by: number): Arrangement {
  const at = arrangement.shown.indexOf(key)
  const target = Math.max(0, Math.min(arrangement.shown.length - 1, at + by))
  if (at === -1 || target === at) return arrangement
  return { ...arrangement, shown: arrangement.shown.toSpliced(at, 1).toSpliced(target, 0, key) }
}
