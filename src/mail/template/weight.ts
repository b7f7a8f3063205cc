/**
 * Bounds on single steps. The library looks at the clock between the nodes of a template and
 * counts memory in most filters; a single filter or comparison must therefore be short by itself.
 * Lists need most care: built by filters they can share their parts, and then a list that took
 * forty steps to make takes 2^40 to print.
 */
import { MAX_DEPTH } from './limits.ts'

/** Characters and items of a list with everything in it written out; 0 for other values. Fails
 * where that is beyond the limit of memory units. */
export function weigh(value: unknown, limit: number): number {
  if (!Array.isArray(value)) return 0
  const budget = { depth: 1, left: limit }
  weighList(value, budget)
  return limit - budget.left
}

/** Fails when looking for one text in the other could take long. */
export function checkSearch(haystack: unknown, needle: unknown, limit: number): void {
  if (typeof haystack !== 'string' || typeof needle !== 'string') return
  if (haystack.length * needle.length > limit) throw new RangeError('search limit exceeded')
}

/** Fails where objects and lists are nested deeper than the limit. */
export function checkDepth(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw new RangeError('depth limit exceeded')
  for (const item of Object.values(value)) checkDepth(item, depth + 1)
}

/** Nested lists are written out again at each level, so a text in one weighs its depth. */
function weighList(list: readonly unknown[], budget: { depth: number; left: number }): void {
  const { depth } = budget
  if (depth > MAX_DEPTH) throw new RangeError('depth limit exceeded')
  for (const item of list) {
    budget.left -= typeof item === 'string' ? (item.length + 1) * depth : 1
    if (budget.left < 0) throw new RangeError('memory limit exceeded')
    if (!Array.isArray(item)) continue
    budget.depth = depth + 1
    weighList(item, budget)
    budget.depth = depth
  }
}
