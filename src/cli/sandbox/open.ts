/** `sandbox open ID`: serves a message to a browser on this machine until interrupted. */
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { SECOND_MS } from '../../clock.ts'
import { createCounters } from '../../counters.ts'
import { getSandboxMessage } from '../../features/messages/sandbox-messages.ts'
import { createGuardedServer } from '../../http/server/guarded-server.ts'
import { type DecodedMessage, decodeMessage } from '../../mail/decode-message.ts'
import { type CommandContext, type Input, type Result, withCore } from '../engine/command.ts'
import { readMessageNumber } from './messages.ts'
import { frameHtml, MESSAGE_POLICY, messagePage, PAGE_POLICY } from './page.ts'

const LOOPBACK = '127.0.0.1'
/** A browser opens a few connections. */
const MAX_CONNECTIONS = 30
const GUARDS = {
  ...{ isTls: false, maxHeaderBytes: 16 * 1024, maxRequests: Number.POSITIVE_INFINITY },
  ...{ headMs: 10 * SECOND_MS, requestMs: 10 * SECOND_MS, keepAliveMs: 60 * SECOND_MS },
}

type Shown = { raw: Buffer; message: DecodedMessage }
type FileResponse = { type: string; body: string | Buffer; policy: string; filename?: string }

/** The URL contains a secret, so that other users of this machine cannot read the message. */
export async function openSandboxCommand(context: CommandContext, input: Input): Promise<Result> {
  const id = readMessageNumber(input)
  const { raw, now } = await withCore(context, async (core) => ({
    raw: await getSandboxMessage(core, id),
    now: core.now,
  }))
  const shown = { raw, message: await decodeMessage(raw) }
  const root = `/${randomBytes(16).toString('hex')}/`
  const connections = {
    max: MAX_CONNECTIONS,
    maxPerAddress: MAX_CONNECTIONS,
    isProxy: () => false,
    refuse: (socket: Socket) => socket.destroy(),
  }
  const deps = { now, counters: createCounters() }
  const { server } = createGuardedServer(deps, { ...GUARDS, connections }, (request, response) => {
    const path = request.url ?? ''
    const file = path.startsWith(root) ? findFile(shown, path.slice(root.length)) : undefined
    send(response, file)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK, resolve)
  })
  const url = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}${root}`
  const { stdout, signals } = context.terminal
  const text = `${url}\nOpen this address in a browser on this machine. Ctrl-C stops the command.`
  stdout.write(`${context.isJson ? JSON.stringify({ url }) : text}\n`)
  await interrupted(signals)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return null
}

function findFile({ raw, message }: Shown, name: string): FileResponse | undefined {
  const html = 'text/html; charset=utf-8'
  if (name === '') return { type: html, body: messagePage(message), policy: PAGE_POLICY }
  if (name === 'html' && message.html !== null) {
    return { type: html, body: frameHtml(message.html), policy: MESSAGE_POLICY }
  }
  if (name === 'source') {
    return { type: 'text/plain; charset=utf-8', body: raw, policy: MESSAGE_POLICY }
  }
  const file = message.attachments[Number(/^file\/(\d{1,4})$/.exec(name)?.[1] ?? -1)]
  if (file === undefined) return undefined
  const { content: body, filename } = file
  return { type: 'application/octet-stream', body, policy: MESSAGE_POLICY, filename }
}

function send(response: ServerResponse, file: FileResponse | undefined): void {
  if (file === undefined) {
    response.writeHead(404).end()
    return
  }
  const { type, body, policy, filename } = file
  // A file name in a message may hold a lone surrogate, which encodeURIComponent refuses.
  const name = encodeURIComponent((filename ?? '').toWellFormed())
  const disposition = `attachment; filename*=UTF-8''${name}`
  response.writeHead(200, {
    'content-type': type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...(filename === undefined ? {} : { 'content-disposition': disposition }),
  })
  response.end(body)
}

function interrupted(signals: CommandContext['terminal']['signals']): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) signals.on(signal, () => resolve())
  })
}
