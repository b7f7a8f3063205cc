/**
 * `npm run bench:cost`: what one operation costs the server in microseconds of processor time, by thread, and
 * in what can be counted from outside: system calls that read and write, and bytes written. After warming up,
 * ten slices; their median and first quartile.
 *
 *   -- --before FILE    compares with another executable, in slices that take turns
 *   -- --only a,b       of send, send-100, track, delivery, open, click, inbound, campaign, workflow, webhook
 *   -- --slices N
 *
 * `delivery`, `campaign`, `workflow` and `webhook` include all from the request, or the rows, to the last effect.
 */
import { parseArgs } from 'node:util'
import { type Operation, operations } from './cost/operations.ts'
import { type Subject, startSubject } from './cost/subject.ts'
import { interleave } from './interleave.ts'
import { costOfOne, type ProcessCost, processorTime, readProcessCost } from './process-cost.ts'
import { firstQuartile, median, printTable, show } from './table.ts'

const { values } = parseArgs({
  strict: false,
  options: {
    before: { type: 'string' },
    only: { type: 'string', default: Object.keys(operations).join() },
    slices: { type: 'string', default: '10' },
  },
})
const names = String(values.only).split(',')
const unknown = names.filter((name) => operations[name] === undefined)
if (unknown.length > 0) throw new Error(`no such operation: ${unknown.join(', ')}`)

const columns: [string, (cost: ProcessCost) => number][] = [
  ['main', ({ main }) => main],
  ['delivery', ({ delivery }) => delivery],
  ['V8', ({ v8 }) => v8],
  ['others', ({ others }) => others],
  ['writes', ({ writes }) => writes],
  ['reads', ({ reads }) => reads],
  ['KB written', ({ bytes }) => bytes / 1_024],
]
const rows = [['us an operation', 'median', 'first quartile', ...columns.map(([name]) => name)]]
for (const name of names) {
  const operation = operations[name]
  if (operation === undefined) continue
  process.stderr.write(`${name}\n`)
  rows.push(...(await measure(name, operation)))
}
printTable(rows)

async function measure(name: string, operation: Operation): Promise<string[][]> {
  const programs = typeof values.before === 'string' ? [values.before, undefined] : [undefined]
  const subjects: Subject[] = []
  try {
    for (const program of programs) {
      const subject = await startSubject(program)
      subjects.push(subject)
      await operation.prepare?.(subject)
      for (let done = 0; done < operation.warmUp; done += operation.slice) {
        await costOf(operation, subject)
      }
    }
    const costs = await interleave(
      subjects,
      (subject) => costOf(operation, subject),
      Number(values.slices),
    )
    const [first = [], second] = costs
    if (second === undefined) return [row(name, first)]
    return [row(`${name}, before`, first), row(`${name}, after`, second), ratio(first, second)]
  } finally {
    for (const subject of subjects) await subject.remove()
  }
}

async function costOf({ slice, before, run }: Operation, subject: Subject): Promise<ProcessCost> {
  await before?.(subject, slice)
  const start = readProcessCost(subject.server.pid)
  await run(subject, slice)
  return costOfOne(start, readProcessCost(subject.server.pid), slice)
}

function row(name: string, costs: readonly ProcessCost[]): string[] {
  const times = costs.map(processorTime)
  const figures = columns.map(([, of]) => show(median(costs.map(of)), 1))
  return [name, show(median(times), 1), show(firstQuartile(times), 1), ...figures]
}

/** Of the second to the first. */
function ratio(before: readonly ProcessCost[], after: readonly ProcessCost[]): string[] {
  const share = (of: (costs: readonly ProcessCost[]) => number) => show(of(after) / of(before), 2)
  const quartile = (costs: readonly ProcessCost[]) => firstQuartile(costs.map(processorTime))
  const figures = columns.map(([, of]) => share((costs) => median(costs.map(of))))
  return ['share', share((costs) => median(costs.map(processorTime))), share(quartile), ...figures]
}
