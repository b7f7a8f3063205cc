/** What a process has used so far, as Linux counts it: processor time by kind of thread, calls, bytes. */
import { readdirSync, readFileSync } from 'node:fs'

export type ProcessCost = {
  /** Microseconds. V8's threads compile and collect garbage. */
  main: number
  delivery: number
  v8: number
  others: number
  /** System calls that write, sockets included; those that read; bytes that both wrote. */
  writes: number
  reads: number
  bytes: number
}

const KINDS: [RegExp, 'delivery' | 'v8'][] = [
  [/^(delivery|composing)/, 'delivery'],
  [/^V8Worker|^DelayedTask/, 'v8'],
]

export function readProcessCost(pid: number): ProcessCost {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1])
  const counts = { writes: read('syscw'), reads: read('syscr'), bytes: read('wchar') }
  const cost: ProcessCost = { main: 0, delivery: 0, v8: 0, others: 0, ...counts }
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const place = `/proc/${pid}/task/${task}`
    const name = readFileSync(`${place}/comm`, 'utf8')
    const [ran] = readFileSync(`${place}/schedstat`, 'utf8').split(' ')
    const kind = KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'others'
    cost[task === String(pid) ? 'main' : kind] += Number(ran) / 1_000
  }
  return cost
}

/** What one of `count` operations cost between two readings. */
export function costOfOne(before: ProcessCost, after: ProcessCost, count: number): ProcessCost {
  const names = Object.keys(before) as (keyof ProcessCost)[]
  const entries = names.map((name) => [name, (after[name] - before[name]) / count])
  return Object.fromEntries(entries) as ProcessCost
}

export function processorTime({ main, delivery, v8, others }: ProcessCost): number {
  return main + delivery + v8 + others
}
