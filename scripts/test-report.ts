/** Prints what test runners report: each failure, each skipped test with its reason, the sums over all. */
import path from 'node:path'
import type { run } from 'node:test'
import { inspect } from 'node:util'
import { showSourcePlaces } from './source-places.ts'

type TestEvents = ReturnType<typeof run>
type TestEvent = TestEvents extends AsyncIterable<infer Event> ? Event : never
type Failure = Extract<TestEvent, { type: 'test:fail' }>['data']
type Pass = Extract<TestEvent, { type: 'test:pass' }>['data']
type Summary = Extract<TestEvent, { type: 'test:summary' }>['data']

const SLOWEST = 10

type Report = {
  /** Writes to stdout as the tests of a runner go on, perhaps beside those of another. */
  read(events: TestEvents): Promise<void>
  /** Writes the sums and the slowest files; true when there were tests, and every one passed. */
  end(): boolean
}

export function openReport(): Report {
  const startedAt = performance.now()
  let hasFailed = false
  const durations = new Map<string, number>()
  const sums = new Map<string, number>()
  return {
    async read(events) {
      for await (const event of events) {
        if (event.type === 'test:fail') hasFailed = true
        if (event.type === 'test:summary') addSums(sums, event.data)
        noteDuration(durations, event)
        process.stdout.write(describe(event))
      }
    },
    end() {
      const all = new Map([...sums, ['duration_ms', Math.round(performance.now() - startedAt)]])
      process.stdout.write(describeSums(all) + describeSlowest(durations))
      return !hasFailed && (sums.get('tests') ?? 0) > 0
    },
  }
}

/** A file of a bundle is a suite at the top; a file that is run from source has a summary. */
function noteDuration(durations: Map<string, number>, { type, data }: TestEvent): void {
  if (type === 'test:summary' && data.file?.endsWith('.test.ts')) {
    durations.set(path.relative('', data.file), data.duration_ms)
  }
  if (type !== 'test:pass' && type !== 'test:fail') return
  if (data.nesting === 0 && data.details.type === 'suite' && data.name.endsWith('.test.ts')) {
    durations.set(data.name, data.details.duration_ms)
  }
}

function describe(event: TestEvent): string {
  switch (event.type) {
    case 'test:pass':
      return describeSkip(event.data)
    case 'test:fail':
      return describeFailure(event.data)
    case 'test:stdout':
      return event.data.message
    case 'test:stderr':
      return showSourcePlaces(event.data.message)
    default:
      return ''
  }
}

function describeSkip({ name, skip }: Pass): string {
  if (skip === undefined || skip === false) return ''
  return `﹣ ${name} # ${skip === true ? 'skipped' : skip}\n`
}

function describeFailure({ name, file, line, column, details }: Failure): string {
  const { error } = details
  const failureType = 'failureType' in error ? error.failureType : undefined
  if (failureType === 'subtestsFailed') return ''
  const where = file === undefined ? '' : showSourcePlaces(`${file}:${line}:${column}`)
  const what = showSourcePlaces(inspect(error.cause ?? error, { depth: 5 }))
  return `✖ ${name}  ${where}\n${what.replaceAll(/^/gm, '    ')}\n`
}

/** Adds the sums of a runner; those of a file are in them. */
function addSums(sums: Map<string, number>, { counts, file }: Summary): void {
  if (file !== undefined) return
  const { tests, suites, passed, failed, cancelled, skipped, todo } = counts
  const own = { tests, suites, pass: passed, fail: failed, cancelled, skipped, todo }
  for (const [word, count] of Object.entries(own)) sums.set(word, (sums.get(word) ?? 0) + count)
}

function describeSums(sums: ReadonlyMap<string, number>): string {
  return [...sums].map(([word, count]) => `ℹ ${word} ${count}\n`).join('')
}

function describeSlowest(durations: ReadonlyMap<string, number>): string {
  const slowest = [...durations].sort(([, a], [, b]) => b - a).slice(0, SLOWEST)
  const lines = slowest.map(([file, ms]) => `ℹ ${(ms / 1000).toFixed(1).padStart(6)} s  ${file}\n`)
  return slowest.length === 0 ? '' : `ℹ the slowest files:\n${lines.join('')}`
}
