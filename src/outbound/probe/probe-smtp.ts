/**
 * Connects to one SMTP server to find out what it offers, sends no mail and leaves with QUIT. What the
 * server does is a value and never an error: a probe ends as far as it came, with the reason. The
 * whole probe has one time limit.
 */
import type { X509Certificate } from 'node:crypto'
import type { Now } from '../../base/clock.ts'
import type { Reply } from '../../formats/replies/reply.ts'
import { parseCapabilities } from '../smtp/commands.ts'
import { connectWire, type SmtpWire } from '../smtp/wire.ts'

export type SmtpProbe = {
  /** An IP address. */
  address: string
  port: number
  /** The name of the server, for SNI. */
  servername: string
  ehloName: string
  /** TLS begins with the connection. */
  isImplicitTls?: boolean
  /** `greeting`: QUIT follows the greeting. `starttls`: EHLO, then TLS if the server offers it. */
  until: 'greeting' | 'starttls'
  /** Asks whether the server accepts this address from the null reverse-path, then sends RSET. */
  recipient?: string
  /** The time limit of the whole probe. */
  limitMs: number
}

export type SmtpFindings = {
  /** The server's greeting; null when there was no connection, or no greeting. */
  greeting: Reply | null
  offersStarttls: boolean
  /** The server's certificate; null without TLS. */
  certificate: X509Certificate | null
  /** The reply to RCPT, or to MAIL when that was refused. */
  recipientReply: Reply | null
  /** Why the probe ended early; null when it came to its end. */
  error: string | null
}

const QUIT_MS = 250

/** @throws TypeError when `address` is not an IP address */
export async function probeSmtp(now: Now, probe: SmtpProbe): Promise<SmtpFindings> {
  const { address, port, limitMs } = probe
  const found: SmtpFindings = {
    ...{ greeting: null, offersStarttls: false, certificate: null },
    ...{ recipientReply: null, error: null },
  }
  const startedAt = performance.now()
  const options = { address, port, limitMs, now, localAddress: undefined, knownReplies: undefined }
  const { wire, failure } = await connectWire(options)
  if (wire === null) return { ...found, error: failure.text }
  const leftMs = () => Math.max(1, limitMs - (performance.now() - startedAt))
  wire.setDeadline(leftMs())
  found.error = await converse(wire, probe, { found, leftMs })
  await leave(wire)
  return found
}

type Progress = { found: SmtpFindings; leftMs: () => number }

/** Writes the findings into `progress.found`. Returns why the dialogue ended early; null if it did not. */
async function converse(
  wire: SmtpWire,
  probe: SmtpProbe,
  progress: Progress,
): Promise<string | null> {
  const { found, leftMs } = progress
  if (probe.isImplicitTls === true) {
    const error = await secure(wire, probe, progress)
    if (error !== null) return error
  }
  const greeting = await readReply(wire, leftMs())
  if (typeof greeting === 'string') return greeting
  found.greeting = greeting
  if (probe.until === 'greeting' || greeting.code >= 400) return null
  const hello = await sayHello(wire, probe, progress)
  if (hello !== null || probe.recipient === undefined) return hello
  return askRecipient(wire, probe.recipient, progress)
}

async function sayHello(
  wire: SmtpWire,
  probe: SmtpProbe,
  progress: Progress,
): Promise<string | null> {
  const { found, leftMs } = progress
  const hello = `EHLO ${probe.ehloName}`
  const lines = await command(wire, hello, leftMs())
  if (typeof lines === 'string') return lines
  found.offersStarttls = parseCapabilities(lines.text.split('\n')).hasStarttls
  if (!found.offersStarttls) return null
  const started = await command(wire, 'STARTTLS', leftMs())
  if (typeof started === 'string') return started
  if (started.code !== 220) return `STARTTLS was refused: ${describeProbeReply(started)}`
  const error = await secure(wire, probe, progress)
  if (error !== null) return error
  const again = await command(wire, hello, leftMs())
  return typeof again === 'string' ? again : null
}

async function secure(
  wire: SmtpWire,
  { servername }: SmtpProbe,
  { found, leftMs }: Progress,
): Promise<string | null> {
  const failure = await wire.upgrade({ servername, limitMs: leftMs(), secureContext: undefined })
  found.certificate = wire.certificate()
  return failure === null ? null : `TLS failed: ${failure.text}`
}

async function askRecipient(
  wire: SmtpWire,
  recipient: string,
  { found, leftMs }: Progress,
): Promise<string | null> {
  for (const line of ['MAIL FROM:<>', `RCPT TO:<${recipient}>`]) {
    const reply = await command(wire, line, leftMs())
    if (typeof reply === 'string') return reply
    found.recipientReply = reply
    if (reply.code >= 300) return null
  }
  const reset = await command(wire, 'RSET', leftMs())
  return typeof reset === 'string' ? reset : null
}

async function command(wire: SmtpWire, line: string, limitMs: number): Promise<Reply | string> {
  const replied = readReply(wire, limitMs)
  wire.write(`${line}\r\n`)
  return replied
}

async function readReply(wire: SmtpWire, limitMs: number): Promise<Reply | string> {
  const [{ reply, failure }] = await wire.expect([limitMs])
  return reply === null ? failure.text : reply.stored
}

/** The reply to QUIT changes nothing, so it gets a moment only. */
async function leave(wire: SmtpWire): Promise<void> {
  await command(wire, 'QUIT', QUIT_MS)
  wire.end()
}

/** Returns a reply as one line: code, enhanced code, text. */
export function describeProbeReply({ code, enhancedCode, text }: Reply): string {
  return [code, enhancedCode, text.replaceAll('\n', ' ')].filter(Boolean).join(' ')
}
