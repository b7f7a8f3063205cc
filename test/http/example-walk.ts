/**
 * The examples of the API's description, sent once to a server as their callers, for all files of a process
 * that look at its answers, its log or its work.
 */
import assert from 'node:assert/strict'
import { createLog, type Log } from '../../src/base/log.ts'
import { endCheapPasswords, makePasswordsCheap } from './cheap-passwords.ts'
import { match } from './example-match.ts'
import { createExampleDns, exampleOptions } from './example-preparations.ts'
import { contentOf, createExampleRunner, type Headers } from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import { type Answer, sendPlainly } from './plain-request.ts'
import { startService } from './service.ts'
import { type Use, watchWork } from './watched-work.ts'

const LEVELS = ['info', 'debug'] as const

type WalkedStep = {
  name: string
  example: Awaited<ReturnType<ReturnType<typeof createExampleRunner>['prepare']>>['example']
  credentials: Headers
  answer: Answer
  /** Why the answer is not as the example says, if so. */
  difference: unknown
  uses: readonly Use[]
}

export type ExampleWalk = {
  projectId: string
  steps: readonly WalkedStep[]
  /** What the server logs meanwhile when it has such a level. */
  lines: Readonly<Record<(typeof LEVELS)[number], readonly string[]>>
  /** The answers to a path afterwards, without parameters. */
  reads: Readonly<Record<'/openapi.json' | '/analytics/timeseries', Answer>>
}

let walk: Promise<ExampleWalk> | undefined

/** For hooks and tests. */
export function walkExamples(): Promise<ExampleWalk> {
  walk ??= walkAll()
  return walk
}

async function walkAll(): Promise<ExampleWalk> {
  const lines = { info: [] as string[], debug: [] as string[] }
  const logs = LEVELS.map((level) =>
    createLog(level, { write: (line: string) => lines[level].push(line) }),
  )
  const dns = createExampleDns()
  const service = await startService({ ...exampleOptions(dns), log: writeToEach(logs) })
  const work = watchWork(service.core)
  makePasswordsCheap()
  try {
    const mine = await service.makeProject('mine')
    const runner = createExampleRunner({ service, mine }, dns)
    const steps: WalkedStep[] = []
    for (const step of exampleSequence) {
      try {
        steps.push(await send(step, runner, work.listUses))
      } catch (error) {
        const cause = steps.find(({ difference }) => difference !== undefined)?.difference ?? error
        throw new Error(`${step.name} could not be sent`, { cause })
      }
    }
    const read = (path: string) => {
      const headers = { authorization: `Bearer ${mine.secret}` }
      return sendPlainly(new URL(path, service.url), { headers })
    }
    const reads = {
      '/openapi.json': await read('/openapi.json'),
      '/analytics/timeseries': await read('/analytics/timeseries'),
    }
    return { projectId: mine.id, steps, lines, reads }
  } finally {
    endCheapPasswords()
    work.stop()
    await service.stop()
  }
}

async function send(
  step: (typeof exampleSequence)[number],
  { bindings, prepare }: ReturnType<typeof createExampleRunner>,
  listUses: ReturnType<typeof watchWork>['listUses'],
): Promise<WalkedStep> {
  const { example, credentials, send } = await prepare(step)
  let answer: Answer | undefined
  const uses = await listUses(async () => {
    answer = await send(credentials)
  })
  assert.ok(answer)
  let difference: unknown
  try {
    assert.equal(answer.status, example.status, answer.text)
    // Later examples name the ids of this answer.
    match(example.response, contentOf(answer), bindings)
  } catch (error) {
    difference = error
  }
  return { name: step.name, example, credentials, answer, difference, uses }
}

/** A log whose lines go to all of these. */
function writeToEach(logs: readonly Log[]): Log {
  const methods = (['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const).map((name) => {
    const write = (...line: [never]) => {
      for (const log of logs) log[name](...line)
    }
    return [name, write] as const
  })
  return Object.assign(Object.create(logs[0] ?? null), Object.fromEntries(methods))
}
