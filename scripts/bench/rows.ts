/** Rows of the result tables: the call, the time that it took, the time allowed. */
import type { Answer } from './api.ts'
import type { SeededServer } from './seeded-server.ts'
import { percentile, printTable, show } from './table.ts'

export type Row = {
  name: string
  /** The highest allowed p99 in milliseconds; null: for information only. */
  wantedMs: number | null
  /** The maximum number of calls; a round also ends after some seconds. */
  times?: number
  call(index: number): Promise<Answer>
}

type Measured = Row & { timesMs: number[]; sendsP99Ms: number }

const TIMES = 300
const LEAST_TIMES = 5
const ROUND_MS = 4_000
const WARM_UPS = 3
const SENDS_WANTED_MS = 100

/** @throws Error for a status of 400 or above */
export async function measure(seeded: SeededServer, rows: readonly Row[]): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const row of rows) {
    process.stderr.write(`${row.name}\n`)
    for (let index = 0; index < WARM_UPS; index += 1) await timed(row, index)
    const { result: timesMs, sends } = await seeded.besideSends(() => repeat(row))
    measured.push({ ...row, timesMs, sendsP99Ms: sends.p99Ms })
  }
  return measured
}

export function printRows(title: string, measured: readonly Measured[]): void {
  printTable([
    [title, 'times', 'p50 ms', 'p99 ms', 'wanted', 'sends p99 ms', ''],
    ...measured.map(({ name, wantedMs, timesMs, sendsP99Ms }) => [
      name,
      String(timesMs.length),
      show(percentile(timesMs, 0.5), 1),
      show(percentile(timesMs, 0.99), 1),
      wantedMs === null ? '' : `< ${wantedMs}`,
      show(sendsP99Ms, 1),
      judge({ wantedMs, timesMs, sendsP99Ms }),
    ]),
  ])
}

/** The rows that exceeded their limits. */
function judge(row: Pick<Measured, 'wantedMs' | 'timesMs' | 'sendsP99Ms'>): string {
  const isSlow = row.wantedMs !== null && percentile(row.timesMs, 0.99) >= row.wantedMs
  const areSendsSlow = row.sendsP99Ms >= SENDS_WANTED_MS
  return [isSlow ? 'slow' : '', areSendsSlow ? 'sends slow' : ''].filter(Boolean).join(', ')
}

async function repeat(row: Row): Promise<number[]> {
  const times = row.times ?? TIMES
  const timesMs: number[] = []
  const endsAt = performance.now() + ROUND_MS
  while (timesMs.length < times) {
    if (timesMs.length >= LEAST_TIMES && performance.now() > endsAt) break
    timesMs.push(await timed(row, WARM_UPS + timesMs.length))
  }
  return timesMs
}

async function timed({ name, call }: Row, index: number): Promise<number> {
  const { status, body, ms } = await call(index)
  if (status >= 400) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`)
  return ms
}
