/**
 * The most steps that a regular expression can take for each character of any text, by its form alone: at
 * each offset a search tries every way through it once. Infinite if a loop has no end.
 */
import type { RegexNode } from './parse-regex.ts'

/** Of one try at one offset: the ways through the node, and the steps of all of them together. */
type Bound = { ways: number; steps: number }

export function boundSteps(root: RegexNode): number {
  return 1 + boundOf(root).steps
}

function boundOf(node: RegexNode): Bound {
  switch (node.kind) {
    case 'set':
    case 'place':
      // Once to look, once to go back.
      return { ways: 1, steps: 2 }
    case 'sequence':
      return node.parts.map(boundOf).reduce(chain, { ways: 1, steps: 0 })
    case 'choice': {
      const options = node.options.map(boundOf)
      const sum = (of: keyof Bound) => options.reduce((total, option) => total + option[of], 0)
      return { ways: sum('ways'), steps: sum('steps') + options.length }
    }
    case 'repeat':
      return repeat(boundOf(node.body), node.max)
    case 'capture':
      return boundOf(node.body)
    case 'look':
      return { ways: 1, steps: boundOf(node.body).steps + 2 }
    case 'reference':
      return { ways: 1, steps: Number.POSITIVE_INFINITY }
  }
}

function chain(before: Bound, part: Bound): Bound {
  return { ways: before.ways * part.ways, steps: before.steps + before.ways * part.steps }
}

/** It may end after each iteration. */
function repeat(body: Bound, max: number): Bound {
  if (max === Number.POSITIVE_INFINITY) return { ways: max, steps: max }
  let all: Bound = { ways: 1, steps: 1 }
  let last = 1
  for (let i = 0; i < max && all.steps < Number.MAX_SAFE_INTEGER; i += 1) {
    all = { ways: all.ways + last * body.ways, steps: all.steps + last * (body.steps + 1) }
    last *= body.ways
  }
  return all
}
