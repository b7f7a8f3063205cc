/**
 * Finds the loops for which V8 keeps an entry of its backtrack stack for each turn: it throws a RangeError
 * ("Maximum call stack size exceeded") once that stack has 64 MB, after a few million turns. It keeps none for
 * a loop over a fixed number of characters, where it steps back instead, nor within a look around that has
 * found its match.
 */
import { characterSet } from './character-set.ts'
import type { RegexNode } from './parse-regex.ts'
import { innerNodes } from './program.ts'

type Repeat = Extract<RegexNode, { kind: 'repeat' }>

/** V8 writes so many turns that a loop owes in front of it; more are counted. */
const MAX_UNROLLED = 3
/** Fewer turns, with five entries each, need a fraction of the stack. */
const MANY = 500_000
/** More than one code unit, or half of a pair: V8 makes a choice of such a set. */
const PAIRED = ['\u{1f600}', '\u{20000}', '\u{10ffff}', '\ud83d', '\ude00']

/** Returns whether a text of millions of characters may need more stack than there is. */
export function needsStack(root: RegexNode, regex: RegExp): boolean {
  return countTurns(root, regex, false) >= MANY
}

/** The most turns that leave an entry. */
function countTurns(node: RegexNode, regex: RegExp, isBehind: boolean): number {
  if (node.kind === 'look') return countTurns(node.body, regex, !node.isAhead)
  const inner = innerNodes(node).map((one) => countTurns(one, regex, isBehind))
  const most = Math.max(0, ...inner)
  if (node.kind !== 'repeat') return most
  const own = leavesEntries(node, regex, isBehind) ? node.max : 0
  return Math.max(own, most === 0 ? 0 : node.max * most)
}

function leavesEntries({ body, min, max, isLazy }: Repeat, regex: RegExp, isBehind: boolean) {
  if (max <= 1) return false
  const isFlat = isFixed(body, regex)
  if (isLazy && min <= MAX_UNROLLED) return !isFlat
  return !isFlat || isBehind || min > MAX_UNROLLED || max < Number.POSITIVE_INFINITY
}

function isFixed(node: RegexNode, regex: RegExp): boolean {
  if (node.kind === 'sequence') {
    return node.parts.length > 0 && node.parts.every((part) => isFixed(part, regex))
  }
  if (node.kind !== 'set') return false
  if (!regex.unicode && !regex.unicodeSets) return true
  const { test } = characterSet(node.source, regex)
  return !PAIRED.some(test)
}
