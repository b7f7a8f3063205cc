/**
 * Loaded into every thread of a traced server (`--import`): counts the calls of each function of
 * `src/` and records the call stacks of the two hand-overs of a delivery. The main thread answers
 * `take` on its IPC channel with the counts of all threads since the last `take`.
 */
import { Session } from 'node:inspector/promises'
import net from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { BroadcastChannel, isMainThread, Worker } from 'node:worker_threads'

/** Calls by function, named `<file below src/>:<name>:<offset>`. */
export type Calls = Record<string, number>
/** Files below `src/` on the stack at each hand-over, the caller first; awaits count as calls. */
type HandOver = { kind: 'to thread' | 'to socket'; files: string[] }
export type Taken = { calls: Calls; handOvers: HandOver[] }

/** Threads answer within that time: they are idle when they are asked. */
const ANSWER_MS = 300

const root = `${path.resolve('src')}${path.sep}`
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
Error.stackTraceLimit = 200

let handOvers: HandOver[] = []
const channel = new BroadcastChannel('trace')
channel.unref()

recordHandOvers()
if (isMainThread) answerParent()
else channel.onmessage = async ({ data }) => data === 'take' && channel.postMessage(await take())

async function take(): Promise<Taken> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const calls: Calls = {}
  for (const { url, functions } of result) {
    const file = sourceOf(url)
    if (file === undefined) continue
    for (const { functionName, ranges } of functions) {
      const [range] = ranges
      // The module itself is no function of it.
      if (range === undefined || range.count === 0 || range.startOffset === 0) continue
      calls[`${file}:${functionName}:${range.startOffset}`] = range.count
    }
  }
  const taken = { calls, handOvers }
  handOvers = []
  return taken
}

function answerParent(): void {
  process.on('message', async () => {
    const answers: Taken[] = []
    channel.onmessage = ({ data }) => answers.push(data as Taken)
    channel.postMessage('take')
    answers.push(await take())
    setTimeout(() => process.send?.(answers), ANSWER_MS)
  })
  process.channel?.unref()
}

function recordHandOvers(): void {
  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (this: Worker, ...args: Parameters<typeof postMessage>) {
    const [message] = args
    if (hasTasks(message)) handOvers.push({ kind: 'to thread', files: filesOnStack() })
    return postMessage.apply(this, args)
  } as typeof postMessage
  const { write } = net.Socket.prototype
  net.Socket.prototype.write = function (this: net.Socket, ...args: unknown[]) {
    const [data] = args
    const isMail = /^MAIL FROM:/m.test(Buffer.from(data as Buffer).toString('latin1'))
    if (isMail) handOvers.push({ kind: 'to socket', files: filesOnStack() })
    return Reflect.apply(write, this, args)
  } as typeof write
}

function hasTasks(message: unknown): boolean {
  const tasks = (message as { tasks?: unknown } | null)?.tasks
  return Array.isArray(tasks) && tasks.length > 0
}

function filesOnStack(): string[] {
  const places = (new Error().stack ?? '').matchAll(/(file:\/\/[^\s)]+?):\d+:\d+/g)
  const files = [...places].flatMap(([, url]) => sourceOf(url ?? '') ?? [])
  return [...new Set(files)].reverse()
}

function sourceOf(url: string): string | undefined {
  if (!url.startsWith('file://')) return undefined
  const file = fileURLToPath(url)
  return file.startsWith(root) ? file.slice(root.length) : undefined
}
