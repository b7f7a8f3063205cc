/** Finds the cycles of workflows that start each other, through one of them. */
import type { Maker } from './makers.ts'

/** A workflow, and its event that starts the next one; the event of the last one starts the first. */
type Link = { name: string; event: string }
export type Cycle = readonly Link[]

/** More cycles would not help an author. */
const MAX_CYCLES = 10

/**
 * The shortest cycles through the workflow, one for each workflow that it starts, which may be
 * itself.
 */
export function findCycles(makers: readonly Maker[], id: string): Cycle[] {
  const first = makers.find((maker) => maker.id === id)
  if (first === undefined) return []
  const next = findWaysTo(makers, first)
  const { triggerEvent } = first
  const own: Cycle[] =
    triggerEvent !== null && first.makes.has(triggerEvent)
      ? [[{ name: first.name, event: triggerEvent }]]
      : []
  const others = makers.filter(
    (maker) => maker !== first && next.has(maker) && starts(first, maker),
  )
  return [...own, ...others.map((maker) => cycleFrom({ first, second: maker, next }))].slice(
    0,
    MAX_CYCLES,
  )
}

/**
 * Returns, for each workflow from which a way leads to `goal`, the next one on the shortest way.
 */
function findWaysTo(makers: readonly Maker[], goal: Maker): Map<Maker, Maker> {
  const next = new Map<Maker, Maker>()
  const reached = [goal]
  // The loop also visits the workflows that it adds.
  for (const to of reached) {
    for (const from of makers) {
      if (from === goal || next.has(from) || !starts(from, to)) continue
      next.set(from, to)
      reached.push(from)
    }
  }
  return next
}

function cycleFrom({
  first,
  second,
  next,
}: {
  first: Maker
  second: Maker
  next: ReadonlyMap<Maker, Maker>
}): Cycle {
  const members = [first]
  for (let at: Maker | undefined = second; at !== undefined && at !== first; at = next.get(at)) {
    members.push(at)
  }
  return members.map(({ name }, index) => {
    const { triggerEvent } = members[index + 1] ?? first
    return { name, event: triggerEvent ?? '' }
  })
}

function starts({ makes }: Maker, { triggerEvent }: Maker): boolean {
  return triggerEvent !== null && makes.has(triggerEvent)
}
