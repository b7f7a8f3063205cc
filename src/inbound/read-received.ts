/** Parses a received message (`features/incoming/receiving/process/parsed-message.ts`). The code for mail to mailboxes is loaded with the first such message. */
import { Resolver } from 'node:dns/promises'
import type {
  ParsedMessage,
  UnparsedMessage,
} from '../features/incoming/receiving/process/parsed-message.ts'
import { findAutomaticReason } from '../formats/incoming/automatic.ts'
import { readIncomingHeader } from '../formats/incoming/header.ts'
import { hideLinkTokens } from '../formats/link-tokens.ts'
import { readEntities } from '../formats/parse/entity.ts'
import { zeroLinks } from '../formats/parse/zero-links.ts'
import { readReportIn } from '../formats/report/read-report.ts'
import type { VerdictDeps } from './verdicts.ts'

export type InboundReaderSettings = {
  /** The DNS servers, as in `dns.servers`; empty = the system's. */
  dnsServers: readonly string[]
  hostname: string
}

const LOOKUP_TIMEOUT_MS = 1_000
const LOOKUP_TRIES = 2

export function createMessageReading(
  settings: InboundReaderSettings,
): (message: UnparsedMessage) => Promise<ParsedMessage> {
  const deps = { resolve: createResolve(settings), hostname: settings.hostname }
  return (message) => read(deps, message)
}

async function read(deps: VerdictDeps, message: UnparsedMessage): Promise<ParsedMessage> {
  const startedAt = performance.now()
  // Copied, because some parsers do not accept shared memory.
  const raw = Buffer.from(message.raw)
  // Bounces and answers quote mail of this server, whose links work for whoever has them, and many may read them.
  const shown = zeroLinks(raw)
  const header = readIncomingHeader(shown)
  const entities = readEntities(shown)
  const isNullSender = message.reversePath === ''
  const session = { isNullSender, isToMailbox: message.isMail }
  const report = readReportIn(entities, { ...session, sizeBytes: raw.length })
  const automatic = findAutomaticReason({ entities, isNullSender, report })
  const mail = message.isMail ? await readMail(deps, { message, raw, shown }) : null
  const kept = shown === raw ? null : shown
  const durationMs = Math.round(performance.now() - startedAt)
  return { header, report, automatic, mail, kept, durationMs }
}

async function readMail(
  deps: VerdictDeps,
  { message, raw, shown }: { message: UnparsedMessage; raw: Buffer; shown: Buffer },
): Promise<ParsedMessage['mail']> {
  const { readIncoming } = await import('../formats/incoming/read-message.ts')
  const { checkSender, isAligned } = await import('./verdicts.ts')
  const mail = await readIncoming(shown)
  const { verdicts, domains } = await checkSender(deps, { ...message, raw })
  const author = mail.from?.address.domain ?? domainOf(message.reversePath)
  const [text, html] = [mail.text, mail.html].map((part) => part && hideLinkTokens(part))
  return {
    ...mail,
    text: text ?? null,
    html: html ?? null,
    verdicts,
    isAuthenticated: isAligned(author, domains),
  }
}

function domainOf(reversePath: string): string {
  return reversePath.slice(reversePath.lastIndexOf('@') + 1)
}

function createResolve({ dnsServers }: InboundReaderSettings): VerdictDeps['resolve'] {
  const resolver = new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES })
  if (dnsServers.length > 0) resolver.setServers(dnsServers)
  return async (name, type) => (await resolver.resolve(name, type)) as string[] | string[][]
}
