/**
 * Compares what was measured with the budget. More fails, and so does less: a budget that nobody lowers
 * hides the next loss. Not exact are:
 *
 *   allocation   the heap grows in pieces, and the turns in which data comes from a socket are the system's
 *   results      a delivery thread sends the results that are there when it gets the processor: 5 to 31 messages
 *                for 100 deliveries were seen. It must send them together: a message for each has its cost.
 *                What they allocate depends on their number
 */
import { type Budget, RESULTS } from './budget.ts'

const ALLOCATION_SLACK = 0.03
/** Of operations with results: 7% more was seen beside other tests. */
const RESULTS_SLACK = 0.15
/** Results in a message, on average, at least. */
const RESULTS_TOGETHER = 2

type Explained = {
  texts: Record<string, string[]>
  allocatedBy: string[]
  messages: Record<string, number>
}

/** The differences; none if the budget is met. */
export function compare(budget: Budget, measured: Budget, explained: Explained): string[] {
  return [
    ...compareCounts('statements', budget.statements, measured.statements, (name) =>
      (explained.texts[name] ?? []).map((text) => `\n    ${text.replaceAll(/\s+/g, ' ')}`).join(''),
    ),
    ...compareNumbers('rows changed, those of triggers included', budget, measured, 'rowsChanged'),
    ...compareNumbers('commits', budget, measured, 'commits'),
    ...compareTrees(budget.opened, measured.opened),
    ...compareCounts('pages of the log', budget.pages, measured.pages, () => ''),
    ...compareAllocation(budget, measured, explained),
    ...compareCounts('messages', budget.messages, measured.messages, () => ''),
    ...compareResults(measured, explained),
  ]
}

function compareCounts(
  what: string,
  budget: Record<string, number>,
  measured: Record<string, number>,
  explain: (name: string) => string,
): string[] {
  return [...new Set([...Object.keys(budget), ...Object.keys(measured)])].flatMap((name) => {
    const wanted = budget[name] ?? 0
    const found = measured[name] ?? 0
    if (found === wanted) return []
    if (found < wanted)
      return [`${what}, ${name}: ${found}; lower the budget of ${wanted} to ${found}`]
    const which = wanted === 0 ? 'new' : `more than ${wanted}`
    return [`${what}, ${name}: ${found}, ${which}${explain(name)}`]
  })
}

function compareNumbers(
  what: string,
  budget: Budget,
  measured: Budget,
  column: 'rowsChanged' | 'commits',
): string[] {
  return compareCounts(what, { all: budget[column] }, { all: measured[column] }, () => '')
}

function compareTrees(budget: Budget['opened'], measured: Budget['opened']): string[] {
  return Object.entries(measured).flatMap(([statement, trees]) => {
    const wanted = budget[statement] ?? []
    const what = `B-trees opened for writing by ${statement}`
    return compareCounts(what, countOf(wanted), countOf(trees), () => '')
  })
}

function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function compareAllocation(
  { allocatedKilobytes: wanted }: Budget,
  { allocatedKilobytes: found }: Budget,
  { allocatedBy, messages }: Explained,
): string[] {
  const ratio = found / wanted
  const slack = (messages[RESULTS] ?? 0) > 0 ? RESULTS_SLACK : ALLOCATION_SLACK
  if (ratio < 1 - slack) {
    return [`allocated: ${found} KB; lower the budget of ${wanted} KB to ${found}`]
  }
  if (ratio <= 1 + slack) return []
  const most = allocatedBy.map((line) => `\n    ${line}`).join('')
  return [`allocated: ${found} KB, more than ${wanted} and ${slack * 100}%:${most}`]
}

function compareResults({ count }: Budget, { messages }: Explained): string[] {
  const found = messages[RESULTS] ?? 0
  const most = count / RESULTS_TOGETHER
  return found > most ? [`messages, ${RESULTS}: ${found} of ${count}, more than ${most}`] : []
}
