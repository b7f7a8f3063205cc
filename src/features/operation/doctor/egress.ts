/**
 * The checks of the way to other mail servers: whether this server reaches them, the names of its
 * addresses in DNS, and blocklists.
 *
 * Many providers block outgoing port 25. The evidence is the deliveries of the last hour: a server that
 * greeted this one. They say what was possible then. A target that the configuration names
 * (`doctor.smtp_target`, or the smarthost) says what is possible now, so it is asked as well: connect,
 * read the greeting, QUIT.
 *
 * | target      | deliveries of the last hour              | outcome |
 * |-------------|------------------------------------------|---------|
 * | answers     | any                                      | ok      |
 * | is silent   | answered, and nothing was silent since   | warning |
 * | is silent   | otherwise                                | failed  |
 * | none        | answered, and nothing was silent since   | ok      |
 * | none        | three servers or more silent since       | failed  |
 * | none        | one or two servers silent since          | warning |
 * | none        | none                                     | skipped |
 */
import ipaddr from 'ipaddr.js'

import { formatSecond, HOUR_MS } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import { describeProbeReply } from '../../../outbound/probe/probe-smtp.ts'
import { desc } from '../../../store/drizzle.ts'
import { attempts } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import { reversedLabels, reverseNameOf } from '../../mail/domains/server-records.ts'
import {
  type Check,
  type CheckContext,
  type CheckOutcome,
  type CheckPart,
  combine,
  failed,
  fixOfNoAnswer,
  noAnswer,
  ok,
  skipInSandbox,
  skipped,
  skipUnlessDirect,
  warning,
} from './check.ts'

/** The number of attempts that are read, latest first. One answer among them is enough. */
const MAX_ATTEMPTS = 300

type SmtpServer = { host: string; port: number; isImplicitTls: boolean }
/** `fix`: how to repair a fault that does not lie with the port. */
type EgressAnswer = { isOk: boolean; text: string; fix?: string }

const MAX_SILENT = 3
const MAX_SHOWN = 5

export const smtpEgressCheck: Check = {
  id: 'smtp_egress',
  run: async (context) => {
    const skip = skipInSandbox(context.config)
    if (skip !== undefined) return skip
    const server = serverOf(context.config)
    const [evidence, answer] = await Promise.all([
      findDeliveryEvidence(context),
      server === null ? null : ask(context, server),
    ])
    const fix = fixOf(context.config)
    return answer === null ? judgeDeliveries(evidence, fix) : judge(answer, evidence, fix)
  },
}

function serverOf({ delivery, doctor }: Config): SmtpServer | null {
  const { relay, port } = delivery
  if (delivery.mode === 'relay' && relay !== null) {
    return { host: relay.host, port: relay.port, isImplicitTls: relay.tls === 'implicit' }
  }
  const { smtpTarget } = doctor
  if (smtpTarget === null) return null
  return { host: smtpTarget.host, port: smtpTarget.port ?? port, isImplicitTls: false }
}

async function ask(
  { config, probes }: CheckContext,
  { host, port, isImplicitTls }: SmtpServer,
): Promise<EgressAnswer> {
  const server = await probes.addressesOf(host)
  if (server.fault !== null) {
    const fix = server.isUnknown ? { fix: fixOfNoAnswer(config) } : {}
    return { isOk: false, text: server.fault, ...fix }
  }
  const [address] = server.addresses
  const found = await probes.smtp({
    ...{ address, port, isImplicitTls, until: 'greeting' },
    ...{ servername: host, ehloName: config.delivery.hostname },
  })
  const named = `${host} [${address}] at port ${port}`
  if (found.greeting === null) return { isOk: false, text: `${named}: ${found.error}` }
  // Any greeting shows that the way is open, even a refusal.
  return { isOk: true, text: `${named}: ${describeProbeReply(found.greeting)}` }
}

function judge(answer: EgressAnswer, evidence: DeliveryEvidence, fixOfPort: string): CheckOutcome {
  if (answer.isOk) return ok(answer.text)
  const { answered, unanswered } = evidence
  const fix = unanswered.length > 0 ? fixOfPort : (answer.fix ?? fixOfPort)
  if (answered === null || unanswered.length > 0) {
    return failed([answer.text, ...describeSilent(evidence)].join('; '), fix)
  }
  const at = formatSecond(answered.at)
  return warning(`${answer.text}; but ${answered.host} answered a delivery at ${at}`, fix)
}

function judgeDeliveries(evidence: DeliveryEvidence, fix: string): CheckOutcome {
  const { answered, unanswered } = evidence
  const last = answered && `${answered.host} answered a delivery at ${formatSecond(answered.at)}`
  if (unanswered.length > 0) {
    const text = [...describeSilent(evidence), ...(last === null ? [] : [last])].join('; ')
    return unanswered.length < MAX_SILENT ? warning(text, fix) : failed(text, fix)
  }
  if (last !== null) return ok(last)
  return skipped('no delivery in the last hour, and doctor.smtp_target is not set')
}

function describeSilent({ unanswered }: DeliveryEvidence): string[] {
  if (unanswered.length === 0) return []
  const shown = unanswered
    .slice(0, MAX_SHOWN)
    .map(({ host, at }) => `${host} at ${formatSecond(at)}`)
  const more = unanswered.length > MAX_SHOWN ? ` and ${unanswered.length - MAX_SHOWN} more` : ''
  return [`no answer from ${shown.join(', ')}${more}`]
}

function fixOf({ delivery }: Config): string {
  if (delivery.mode === 'relay') {
    return 'Check delivery.relay.host and delivery.relay.port, and whether the firewall lets connections to them out.'
  }
  return (
    `Ask the provider of this machine to open outgoing TCP port ${delivery.port}, and check its firewall.\n` +
    'If the port stays closed, send through a smarthost: delivery.mode = "relay" and delivery.relay.host.'
  )
}

type SeenServer = { host: string; at: number }

/** The connections to other mail servers in the last hour. */
type DeliveryEvidence = {
  /** The server that last greeted this one or replied to it; null when no server did. */
  answered: SeenServer | null
  /** The servers that did not answer after that, each once, the latest first. */
  unanswered: SeenServer[]
}

/** Finds the servers that answered the deliveries of the last hour, and those that did not. */
async function findDeliveryEvidence({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<DeliveryEvidence> {
  const { id, at, host, address, replyCode, result, steps } = attempts
  const rows = await store.scan
    .select({ at, host, address, replyCode, result, steps })
    .from(attempts)
    .orderBy(desc(id))
    .limit(MAX_ATTEMPTS)
  const since = now() - HOUR_MS
  const unanswered = new Map<string, SeenServer>()
  for (const row of rows) {
    const isAttempt = row.host !== null && row.address !== null && row.at >= since
    // Reports are skipped: they have rows too, but no connection to another server belongs to them.
    if (!isAttempt || row.result.startsWith('reported-')) continue
    const server = { host: `${row.host} [${row.address}]`, at: row.at }
    const greeted = row.steps.some(({ step, reply }) => step === 'greeting' && reply !== undefined)
    if (greeted || row.replyCode !== null) {
      return { answered: server, unanswered: [...unanswered.values()] }
    }
    if (!unanswered.has(server.host)) unanswered.set(server.host, server)
  }
  return { answered: null, unanswered: [...unanswered.values()] }
}

const REFUSAL = /^127\.255\.255\.\d+$/
const LISTED = /^127\.\d+\.\d+\.\d+$/
const MAX_REASON = 200

/**
 * Whether each address has a name, whether the name is the one of EHLO, and whether it leads back
 * to the address. Large receivers refuse mail from addresses without this circle.
 */
export const reverseDnsCheck: Check = {
  id: 'reverse_dns',
  run: async (context) => {
    const skip = skipUnlessDirect(context.config)
    if (skip !== undefined) return skip
    const { hostname } = context.config.delivery
    const found = await context.facts.addresses()
    if (found.fault !== null) {
      const fix = `${hostname}. IN A <the public address of this server>`
      return found.isUnknown ? noAnswer(context.config, found.fault) : failed(found.fault, fix)
    }
    const { addresses } = found
    const parts = await Promise.all(addresses.map((address) => checkAddress(context, address)))
    return combine(parts, `${addresses.join(', ')}: the name is ${hostname}, and leads back`)
  },
}

async function checkAddress({ config, probes }: CheckContext, address: string): Promise<CheckPart> {
  const { hostname } = config.delivery
  const reverseName = reverseNameOf(address)
  const fix = `${reverseName}. IN PTR ${hostname}.`
  const name = await probes.dns.ptr(reverseName)
  if (name.kind === 'failed') return noAnswer(config, `${reverseName}: ${name.error}`)
  if (name.kind !== 'found') return failed(`${address} has no PTR record`, fix)
  if (!name.records.includes(hostname)) {
    return failed(
      `the PTR record of ${address} is ${name.records.join(', ')}, not ${hostname}`,
      fix,
    )
  }
  return checkForward({ config, probes }, { hostname, address })
}

async function checkForward(
  { config, probes }: Pick<CheckContext, 'config' | 'probes'>,
  { hostname, address }: { hostname: string; address: string },
): Promise<CheckPart> {
  const isIpv6 = address.includes(':')
  const answer = await (isIpv6 ? probes.dns.aaaa(hostname) : probes.dns.a(hostname))
  const type = isIpv6 ? 'AAAA' : 'A'
  const fix = `${hostname}. IN ${type} ${address}`
  if (answer.kind === 'failed') return noAnswer(config, `${type} of ${hostname}: ${answer.error}`)
  const records = answer.kind === 'found' ? answer.records.map(normalize) : []
  if (records.includes(normalize(address))) return ok(address)
  const found = records.length === 0 ? 'no such record' : records.join(', ')
  return failed(`${hostname} does not lead to ${address}: ${found}`, fix)
}

function normalize(address: string): string {
  return ipaddr.process(address).toNormalizedString()
}

/**
 * Whether the addresses are on the blocklists of `doctor.blocklists` (RFC 5782). An answer in
 * 127.0.0.0/8 means listed; one in 127.255.255.0/24 means that the list refuses to answer this
 * resolver; anything else did not come from a blocklist.
 */
export const blocklistsCheck: Check = {
  id: 'blocklists',
  run: async (context) => {
    const skip = skipUnlessDirect(context.config)
    if (skip !== undefined) return skip
    const { blocklists } = context.config.doctor
    if (blocklists.length === 0) return skipped('doctor.blocklists is empty')
    const { addresses, fault } = await context.facts.addresses()
    if (fault !== null) return skipped(`${fault}; see reverse_dns`)
    const questions = blocklists.flatMap((zone) => addresses.map((address) => ({ zone, address })))
    const parts = await Promise.all(questions.map((one) => checkListing(context, one)))
    return combine(parts, `${addresses.join(', ')} on none of ${blocklists.join(', ')}`)
  },
}

async function checkListing(
  { probes }: CheckContext,
  { zone, address }: { zone: string; address: string },
): Promise<CheckPart> {
  const name = `${reversedLabels(address)}.${zone}`
  const answer = await probes.dns.listing(name)
  const unknown = (text: string) =>
    warning(
      `${zone} does not say whether ${address} is listed: ${text}`,
      'Name a resolver of your own in dns.servers: many lists refuse public resolvers. Otherwise remove the zone from doctor.blocklists.',
    )
  if (answer.kind === 'failed') return unknown(answer.error)
  if (answer.kind !== 'found') return ok(`${address} is not on ${zone}`)
  const listed = answer.records.filter((record) => LISTED.test(record) && !REFUSAL.test(record))
  if (listed.length === 0) return unknown(`it answers ${answer.records.join(', ')}`)
  const reason = await probes.dns.txt(name)
  const text = reason.kind === 'found' ? `: ${reason.records.join(' ').slice(0, MAX_REASON)}` : ''
  return failed(
    `${address} is on ${zone} (${listed.join(', ')})${text}`,
    `Find out what was sent from ${address}, stop it, and ask ${zone} to remove the address.`,
  )
}
