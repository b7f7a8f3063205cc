/**
 * An HTTP client that behaves as a careful one does: it waits while the server is down, tries again
 * after 503 and 429, and repeats a request without an answer only where that is safe (`isRepeatable`: a
 * read, or a request with an Idempotency-Key). Any other request without an answer is `unknown`.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { countAnswer, type History } from '../history/history.ts'

export type Answered = { outcome: 'acknowledged' | 'refused'; status: number; body: unknown }
export type Answer = Answered | { outcome: 'unknown'; status: 0; body: undefined }

export type ApiRequest = {
  method: string
  path: string
  /** An object is sent as JSON. */
  body?: object | { contentType: string; bytes: Buffer }
  key?: string
  isRepeatable?: boolean
  /** Without the key of the project, as a reader of mail. */
  isPublic?: boolean
  headers?: Record<string, string>
  /** Statuses of 400 and above that the caller knows to be right. */
  expects?: readonly number[]
}

export type Api = {
  ask(request: ApiRequest): Promise<Answer>
  /** Sends a request and cuts the connection, before its end or right after it. */
  abandon(request: ApiRequest, share: number): Promise<void>
  close(): void
}

type ApiDeps = { url: string; secret: string; history: Pick<History, 'answers' | 'surprises'> }

/** No connection, a refusal for now, or no answer. */
type Failure = { failed: 'unconnected' | 'unanswered'; code: string }
type Reply = { status: number; text: string }

const TIMEOUT_MS = 30_000
const PAUSE_MS = 200
/** A request is tried for so long; kills and slow starts may follow each other. */
const PATIENCE_MS = 240_000

export function createApi(deps: ApiDeps): Api {
  const agent = new Agent({ keepAlive: true, maxSockets: 40 })

  async function ask(asked: ApiRequest): Promise<Answer> {
    const isRepeatable = asked.isRepeatable ?? (asked.key !== undefined || asked.method === 'GET')
    const endsAt = Date.now() + PATIENCE_MS
    for (;;) {
      const reply = await exchange(open(deps, agent, asked), contentOf(asked).bytes)
      if ('status' in reply) {
        countAnswer(deps.history, String(reply.status))
        const known = readRepeated(asked, reply)
        if (known?.outcome === 'acknowledged') return known
        const isBusy = reply.status === 503 || reply.status === 429 || known !== undefined
        if (!isBusy || Date.now() > endsAt) return judge(deps, asked, reply)
      } else if (reply.failed === 'unanswered') {
        countAnswer(deps.history, 'no answer')
        if (!isRepeatable || Date.now() > endsAt) return UNKNOWN
      } else if (Date.now() > endsAt) {
        return judge(deps, asked, { status: 0, text: `no connection: ${reply.code}` })
      }
      await sleep(PAUSE_MS)
    }
  }

  async function abandon(asked: ApiRequest, share: number): Promise<void> {
    const sent = open(deps, agent, asked)
    const { bytes } = contentOf(asked)
    sent.on('error', () => undefined)
    sent.on('response', (response) => response.resume())
    sent.write(bytes.subarray(0, Math.ceil(bytes.length * Math.min(1, share))))
    if (share >= 1) sent.end()
    await sleep(share >= 1 ? 2 : 20)
    sent.destroy()
    countAnswer(deps.history, 'abandoned')
  }

  return { ask, abandon, close: () => agent.destroy() }
}

/** A key that was used before: the first response, or `unknown` while the first request is under way. */
function readRepeated({ key }: ApiRequest, { status, text }: Reply): Answer | undefined {
  if (key === undefined || status !== 409) return undefined
  const { error } = Object(parse(text)) as { error?: { code?: string; details?: Repeated } }
  if (error?.code !== 'IDEMPOTENCY_KEY_REUSED') return undefined
  const { originalStatusCode = null, data } = error.details ?? {}
  if (originalStatusCode === null) return UNKNOWN
  return { outcome: 'acknowledged', status: originalStatusCode, body: { ...Object(data), data } }
}

type Repeated = { originalStatusCode?: number | null; data?: unknown }

const UNKNOWN: Answer = { outcome: 'unknown', status: 0, body: undefined }

function judge({ history }: ApiDeps, asked: ApiRequest, { status, text }: Reply): Answer {
  const isExpected = status >= 200 && status < 400
  if (!isExpected && !(asked.expects ?? []).includes(status)) {
    const what = `${asked.method} ${asked.path}`
    history.surprises.push({ at: Date.now(), what, status, text: text.slice(0, 500) })
  }
  return { outcome: isExpected ? 'acknowledged' : 'refused', status, body: parse(text) }
}

function open({ url, secret }: ApiDeps, agent: Agent, asked: ApiRequest): ClientRequest {
  const { bytes, contentType } = contentOf(asked)
  return request(new URL(asked.path, url), {
    method: asked.method,
    agent,
    timeout: TIMEOUT_MS,
    headers: {
      ...(asked.isPublic === true ? {} : { authorization: `Bearer ${secret}` }),
      ...(asked.key === undefined ? {} : { 'idempotency-key': asked.key }),
      ...(asked.body === undefined ? {} : { 'content-type': contentType }),
      ...(asked.body === undefined ? {} : { 'content-length': String(bytes.length) }),
      ...asked.headers,
    },
  })
}

function exchange(sent: ClientRequest, bytes: Buffer): Promise<Reply | Failure> {
  return new Promise((resolve) => {
    let isConnected = false
    const fail = (error: NodeJS.ErrnoException) => {
      const { code = error.message } = error
      resolve({ failed: isConnected ? 'unanswered' : 'unconnected', code })
    }
    sent.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => (isConnected = true))
      else isConnected = true
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.on('error', fail)
    sent.on('response', (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail)
    })
    sent.end(bytes)
  })
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function contentOf({ body }: ApiRequest): { bytes: Buffer; contentType: string } {
  if (body === undefined) return { bytes: Buffer.alloc(0), contentType: '' }
  if ('bytes' in body) return body as { contentType: string; bytes: Buffer }
  return { bytes: Buffer.from(JSON.stringify(body)), contentType: 'application/json' }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
