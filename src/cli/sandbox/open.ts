/**
 * `sandbox open`: serves the mail of the sandbox, or one message of it, to a browser on this machine until
 * interrupted.
 */
import { hash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { html, raw as rawHtml } from 'hono/html'
import { formatSecond, SECOND_MS } from '../../base/clock.ts'
import { createCounters } from '../../base/counters.ts'
import type { OpenCore } from '../../core/open-core.ts'
import {
  listSandboxMessages,
  loadSandboxMessage,
  type SandboxMessage,
} from '../../features/mail/messages/sandbox-messages.ts'
import { type DecodedMessage, decodeMessage } from '../../formats/decode-message.ts'
import { createGuardedServer } from '../../http/server/guarded-server.ts'
import { type CommandContext, type Input, type Result, withCore } from '../engine/command.ts'
import { readMessageNumber } from './messages.ts'

const LOOPBACK = '127.0.0.1'
const HTML = 'text/html; charset=utf-8'
const MAX_LISTED = 1_000
/** Connections at a time; one browser opens only a few. */
const MAX_CONNECTIONS = 30
const GUARDS = {
  ...{ isTls: false, maxHeaderBytes: 16 * 1024, maxRequests: Number.POSITIVE_INFINITY },
  ...{ headMs: 10 * SECOND_MS, requestMs: 10 * SECOND_MS, keepAliveMs: 60 * SECOND_MS },
}

/**
 * The Content-Security-Policy of a message: its own styles and images work, it loads nothing, and
 * its links open in a new window.
 */
const MESSAGE_POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
].join('; ')

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 60rem; padding: 1rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem }
dt { opacity: .7 } dd { margin: 0; overflow-wrap: anywhere }
iframe { width: 100%; height: 70vh; border: 1px solid #8888; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { padding: .3rem .8rem .3rem 0; text-align: left }
td { border-top: 1px solid #8888; overflow-wrap: anywhere; vertical-align: top }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8888; padding: 1rem }
`

/** The Content-Security-Policy of the page around a message. */
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "frame-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

type Shown = { raw: Buffer; message: DecodedMessage }
type FileResponse = { type: string; body: string | Buffer; policy: string; filename?: string }

/**
 * Runs `sandbox open`. The URL contains a secret, so that other users of this machine cannot read
 * the mail.
 */
export async function openSandboxCommand(context: CommandContext, input: Input): Promise<Result> {
  const id = input.args.length === 0 ? undefined : readMessageNumber(input)
  return withCore(context, async (core) => {
    const shown = id === undefined ? undefined : await readShown(core, id)
    const find = (name: string) =>
      shown === undefined ? findAny(core, name) : findFile(shown, name)
    await serve(context, core, find)
    return null
  })
}

type FindFile = (name: string) => Promise<FileResponse | undefined> | FileResponse | undefined

async function serve(
  context: CommandContext,
  { now }: Pick<OpenCore, 'now'>,
  find: FindFile,
): Promise<void> {
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
    const found = path.startsWith(root) ? find(path.slice(root.length)) : undefined
    Promise.resolve(found).then(
      (file) => send(response, file),
      () => send(response, undefined),
    )
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
}

async function readShown(core: OpenCore, id: number): Promise<Shown> {
  const raw = await loadSandboxMessage(core, id)
  return { raw, message: await decodeMessage(raw) }
}

/** Finds the current list, or a file of one message in it, such as `12/html`. */
async function findAny(core: OpenCore, name: string): Promise<FileResponse | undefined> {
  if (name === '') {
    const { messages, total } = await listSandboxMessages(core, { limit: MAX_LISTED })
    return { type: HTML, body: listPage(messages, total), policy: PAGE_POLICY }
  }
  const [, id, rest = ''] = /^(\d{1,15})\/(.*)$/s.exec(name) ?? []
  return id === undefined ? undefined : findFile(await readShown(core, Number(id)), rest, true)
}

/** Finds a file of one message. `isListed`: the page of the message has a link back to the list. */
function findFile(
  { raw, message }: Shown,
  name: string,
  isListed = false,
): FileResponse | undefined {
  if (name === '') {
    return { type: HTML, body: messagePage(message, isListed), policy: PAGE_POLICY }
  }
  if (name === 'html' && message.html !== null) {
    return { type: HTML, body: frameHtml(message.html), policy: MESSAGE_POLICY }
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
  // The name of a file in a message may contain a lone surrogate, on which encodeURIComponent
  // throws.
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

/**
 * Returns the HTML part for the frame. Its links open outside of the frame, because the frame
 * cannot navigate.
 */
function frameHtml(text: string): string {
  return text.replace(/^(\s*<!doctype[^>]*>)?/i, '$1<base target="_blank">')
}

/** The page with links to the messages, newest first. */
function listPage(messages: readonly SandboxMessage[], total: number): string {
  const rows = messages.map(
    ({ id, receivedAt, sender, recipient, subject }) => html`<tr>
<td><a href="${id}/">${subject === '' ? '(no subject)' : subject}</a></td>
<td>${recipient}</td><td>${sender}</td><td>${formatSecond(receivedAt)}</td></tr>`,
  )
  return String(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sandbox</title><link rel="icon" href="data:,">
<style>${rawHtml(STYLE)}</style></head>
<body>
<h1>Sandbox</h1>
<p>${messages.length} of ${total} messages, newest first. Reload the page to see new ones.</p>
<table><tr><th>Subject</th><th>To</th><th>From</th><th>Received</th></tr>
${rows}</table>
</body>
</html>`)
}

/** The page of one message. `isListed`: the page has a link back to the list. */
function messagePage(message: DecodedMessage, isListed = false): string {
  const { from, to, subject, text, attachments } = message
  const files = attachments.map(
    ({ filename, content }, index) =>
      html`<li><a href="file/${index}" download>${filename}</a> (${content.length} bytes)</li>`,
  )
  return String(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${subject}</title><link rel="icon" href="data:,">
<style>${rawHtml(STYLE)}</style></head>
<body>
<h1>${subject}</h1>
<dl><dt>From</dt><dd>${from}</dd><dt>To</dt><dd>${to}</dd></dl>
${message.html === null ? '' : html`<h2>HTML</h2><iframe src="html" title="HTML part"></iframe>`}
${text === null ? '' : html`<h2>Text</h2><pre>${text}</pre>`}
${files.length === 0 ? '' : html`<h2>Attachments</h2><ul>${files}</ul>`}
<p><a href="source">Source</a></p>
${isListed ? html`<p><a href="../">All messages</a></p>` : ''}
</body>
</html>`)
}
