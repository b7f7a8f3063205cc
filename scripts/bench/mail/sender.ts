/**
 * The sender of the benchmarks: a project with a trusted domain, and the load, which runs on raw
 * sockets in its own process so that it costs little and is not measured with the server.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Bench } from '../server.ts'

export type LoadRequest = Load & (Sends | Visits)

type Load = {
  url: string
  connections: number
  /** Stops after this number of requests ... */
  requests?: number
  /** ... or after this time, at this rate per second. */
  seconds?: number
  perSecond?: number
  /** The number of the first request; requests are numbered consecutively. */
  from: number
}

/** POST to `path`, /v1/send if absent; in the JSON of `body`, `@@` becomes the number of the request. */
type Sends = { secret: string; body: string; path?: string }

/** GET of each path in turn, repeatedly. */
type Visits = { paths: readonly string[]; userAgent: string }

export type LoadResult = {
  answered: number
  refused: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Creates a project that may send from `example.test` and returns its secret key. */
export async function makeProject(bench: Bench): Promise<string> {
  await bench.command('user', 'create', '--email', 'bench@example.test')
  const project = await bench.command(
    'project',
    'create',
    '--name',
    'Bench',
    '--owner',
    'bench@example.test',
  )
  const { id, secret } = project as { id: string; secret: string }
  await bench.command('domain', 'add', '--project', id, 'example.test')
  await bench.command('domain', 'verify', 'example.test', '--trust')
  return secret
}

export async function runLoad(request: LoadRequest): Promise<LoadResult> {
  const { result } = await startLoad(request)
  return result
}

/** Resolves when the load has begun. `stop` ends the load early. */
export async function startLoad(
  request: LoadRequest,
): Promise<{ result: Promise<LoadResult>; stop(): Promise<LoadResult> }> {
  const child = fork(path.join(import.meta.dirname, 'load.ts'), { serialization: 'advanced' })
  child.send(request)
  await once(child, 'message')
  const result = once(child, 'message').then(([message]) => {
    child.kill()
    return message as LoadResult
  })
  return {
    result,
    stop() {
      child.send('end')
      return result
    },
  }
}

/** HTML of exactly this size: paragraphs of prose with contact data. */
export function prose(bytes: number): string {
  const paragraph =
    '<p>Hello {{ name }}, your order number {{ order }} has left our house in {{ city }} today and should reach you soon.</p>\n'
  const count = Math.floor((bytes - 8) / paragraph.length)
  const rest = bytes - count * paragraph.length - 7
  return `${paragraph.repeat(count)}<p>${'so long '.repeat(bytes).slice(0, rest)}</p>`
}
