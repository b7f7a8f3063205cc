/** Turns the runner's events into text: each failure whole, each skip with its reason, the sums. */
import path from 'node:path'
import type { run } from 'node:test'
import { inspect } from 'node:util'

type TestEvents = ReturnType<typeof run>
type TestEvent = TestEvents extends AsyncIterable<infer Event> ? Event : never
type Failure = Extract<TestEvent, { type: 'test:fail' }>['data']
type Pass = Extract<TestEvent, { type: 'test:pass' }>['data']
type Summary = Extract<TestEvent, { type: 'test:summary' }>['data']

/** Writes to stdout as it goes; true when every test passed. */
export async function report(events: TestEvents): Promise<boolean> {
  let isPassing = true
  for await (const event of events) {
    if (event.type === 'test:fail') isPassing = false
    process.stdout.write(describe(event))
  }
  return isPassing
}

function describe(event: TestEvent): string {
  switch (event.type) {
    case 'test:pass':
      return describeSkip(event.data)
    case 'test:fail':
      return describeFailure(event.data)
    case 'test:stdout':
    case 'test:stderr':
      return event.data.message
    case 'test:summary':
      return describeSums(event.data)
    default:
      return ''
  }
}

function describeSkip({ name, skip }: Pass): string {
  if (skip === undefined || skip === false) return ''
  return `﹣ ${name} # ${skip === true ? 'skipped' : skip}\n`
}

function describeFailure({ name, file, line, details }: Failure): string {
  const { error } = details
  const failureType = 'failureType' in error ? error.failureType : undefined
  if (failureType === 'subtestsFailed') return ''
  const where = file === undefined ? '' : `${path.relative('', file)}:${line}`
  const what = inspect(error.cause ?? error, { depth: 5 })
  return `✖ ${name}  ${where}\n${what.replaceAll(/^/gm, '    ')}\n`
}

function describeSums({ counts, duration_ms, file }: Summary): string {
  if (file !== undefined) return ''
  const { tests, suites, passed, failed, cancelled, skipped, todo } = counts
  const sums = { tests, suites, pass: passed, fail: failed, cancelled, skipped, todo, duration_ms }
  const lines = Object.entries(sums).map(([word, count]) => `ℹ ${word} ${count}\n`)
  return lines.join('')
}
