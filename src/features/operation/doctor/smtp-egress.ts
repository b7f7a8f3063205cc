/**
 * Whether this server reaches other mail servers. Many providers block outgoing port 25.
 *
 * The evidence is the deliveries of the last hour: a server that greeted this one. They say what was
 * possible then. A server that the configuration names (`doctor.smtp_target`, or the smarthost) says
 * what is possible now, so it is asked as well: connect, read the greeting, QUIT.
 *
 * | server      | deliveries of the last hour              | outcome |
 * |-------------|------------------------------------------|---------|
 * | answers     | any                                      | ok      |
 * | is silent   | answered, and nothing was silent since   | warning |
 * | is silent   | otherwise                                | failed  |
 * | none        | answered, and nothing was silent since   | ok      |
 * | none        | three servers or more silent since       | failed  |
 * | none        | one or two servers silent since          | warning |
 * | none        | none                                     | skipped |
 */
import { formatSecond, HOUR_MS } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import { describeProbeReply } from '../../../outbound/probe/probe-smtp.ts'
import { desc } from '../../../store/drizzle.ts'
import { attempts } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import type { Check, CheckContext } from './check.ts'
import {
  type CheckOutcome,
  failed,
  fixOfNoAnswer,
  ok,
  skipInSandbox,
  skipped,
  warning,
} from './outcome.ts'

/** The latest attempts are enough: one answer settles it. */
const MAX_ATTEMPTS = 300

type SmtpServer = { host: string; port: number; isImplicitTls: boolean }
/** `fix`: the repair, if something other than the port is at fault. */
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
  /** The last server that greeted this one or replied to it; null when none did. */
  answered: SeenServer | null
  /** Servers that did not answer after that, each once, the latest first. */
  unanswered: SeenServer[]
}

/** Finds the servers that answered, or did not, the deliveries of the last hour. */
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
    // Reports are rows too; they arrive here, and no connection is needed for them.
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
