/**
 * The receiver of webhooks: of an endpoint at `/events`, and of workflow steps at `/step`. It checks each
 * signature, answers the first request of some ids with 503 or cuts it, and records what it did.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { Random } from '../../bench/seeding/random.ts'
import type { History } from '../history/history.ts'

export type HookReceiver = {
  url: string
  /** The requests below a path are signed with its secret. */
  trust(path: string, secret: string): void
  /** Nobody listens until `up`; open connections end. */
  down(): Promise<void>
  up(): Promise<void>
  stop(): Promise<void>
}

const FAILED_SHARE = 0.02
const CUT_SHARE = 0.01
const MAX_BACKLOG = 1_024

export async function startHookReceiver(
  history: Pick<History, 'hooks'>,
  { random, port }: { random: Random; port: number },
): Promise<HookReceiver> {
  const seen = new Set<string>()
  const verifiers = new Map<string, Webhook>()
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now()
    const body = await readBody(request)
    const path = request.url ?? ''
    const id = String(request.headers['webhook-id'])
    const status = seen.has(id) ? 200 : chooseStatus(random)
    seen.add(id)
    const isSigned = isVerified(verifiers.get(path), request, body)
    history.hooks.push({ path, id, at, status, isSigned, email: readAddress(body) })
    if (status === 0) response.destroy()
    else response.writeHead(status).end()
  }

  async function up(): Promise<void> {
    if (server.listening) return
    server.listen(port, '127.0.0.1', MAX_BACKLOG)
    await once(server, 'listening')
  }

  async function down(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  await up()
  return {
    url: `http://127.0.0.1:${port}`,
    trust: (path, secret) => void verifiers.set(path, new Webhook(secret)),
    up,
    down,
    stop: down,
  }
}

function chooseStatus(random: Random): number {
  const lot = random()
  if (lot < CUT_SHARE) return 0
  return lot < CUT_SHARE + FAILED_SHARE ? 503 : 200
}

function isVerified(verifier: Webhook | undefined, request: IncomingMessage, body: string) {
  if (verifier === undefined) return false
  try {
    verifier.verify(body, request.headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

/** The contact of an event, or the address in the body of the workflow's step. */
function readAddress(body: string): string {
  const parsed = JSON.parse(body) as {
    who?: string
    data?: { contact?: { email?: string } | null }
  }
  return parsed.who ?? parsed.data?.contact?.email ?? ''
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
