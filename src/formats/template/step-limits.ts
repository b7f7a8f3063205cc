/**
 * Limits of single steps. The library checks the clock only between the nodes of a template and
 * counts memory in most filters, so a single filter or comparison must be short by itself. Lists
 * need most care: filters can build lists that share their parts, and a list built in forty steps
 * can take 2^40 steps to print.
 */
import { MAX_DEPTH } from './limits.ts'

/**
 * Returns the number of characters and items of a list, fully expanded; 0 for any other value.
 * @throws RangeError if this number exceeds `limit`
 */
export function measureList(value: unknown, limit: number): number {
  if (!Array.isArray(value)) return 0
  const budget = { depth: 1, left: limit }
  measureItems(value, budget)
  return limit - budget.left
}

/** @throws RangeError if a search of `needle` in `haystack` could take too long */
export function checkSearch(haystack: unknown, needle: unknown, limit: number): void {
  if (typeof haystack !== 'string' || typeof needle !== 'string') return
  if (haystack.length * needle.length > limit) throw new RangeError('search limit exceeded')
}

/** @throws RangeError if objects and lists are nested too deeply */
export function checkDepth(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw new RangeError('depth limit exceeded')
  for (const item of Object.values(value)) checkDepth(item, depth + 1)
}

/**
 * Subtracts the cost of a list from the budget. A text costs its length once for each level of
 * nesting, because each level writes it again.
 */
function measureItems(list: readonly unknown[], budget: { depth: number; left: number }): void {
  const { depth } = budget
  if (depth > MAX_DEPTH) throw new RangeError('depth limit exceeded')
  for (const item of list) {
    budget.left -= typeof item === 'string' ? (item.length + 1) * depth : 1
    if (budget.left < 0) throw new RangeError('memory limit exceeded')
    if (!Array.isArray(item)) continue
    budget.depth = depth + 1
    measureItems(item, budget)
    budget.depth = depth
  }
}
