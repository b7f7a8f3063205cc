/**
 * Whether this server reaches other mail servers. Many providers block outgoing port 25.
 *
 * The evidence is the deliveries of the last hour: a server that greeted this one. They say what was
 * possible then. A target that the configuration names (`doctor.smtp_target`, or the smarthost) says
 * what is possible now, so it is asked as well: connect, read the greeting, QUIT.
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
import { formatSecond } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import { describeReply } from '../../../outbound/probe/probe-smtp.ts'
import type { Check, CheckContext } from './check.ts'
import { type DeliveryEvidence, findDeliveryEvidence } from './delivery-evidence.ts'
import { fixOfNoAnswer } from './no-answer.ts'
import { failed, type Outcome, ok, skipped, warning } from './outcome.ts'
import { skipInSandbox } from './skip-mode.ts'

type Target = { host: string; port: number; isImplicitTls: boolean }
/** `fix`: when not the port is at fault. */
type Answer = { isOk: boolean; text: string; fix?: string }

const MAX_SILENT = 3
const MAX_SHOWN = 5

export const smtpEgressCheck: Check = {
  id: 'smtp_egress',
  run: async (context) => {
    const skip = skipInSandbox(context.config)
    if (skip !== undefined) return skip
    const target = targetOf(context.config)
    const [evidence, answer] = await Promise.all([
      findDeliveryEvidence(context),
      target === null ? null : ask(context, target),
    ])
    const fix = fixOf(context.config)
    return answer === null ? judgeDeliveries(evidence, fix) : judge(answer, evidence, fix)
  },
}

function targetOf({ delivery, doctor }: Config): Target | null {
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
  { host, port, isImplicitTls }: Target,
): Promise<Answer> {
  const target = await probes.addressesOf(host)
  if (target.fault !== null) {
    const fix = target.isUnknown ? { fix: fixOfNoAnswer(config) } : {}
    return { isOk: false, text: target.fault, ...fix }
  }
  const [address] = target.addresses
  const found = await probes.smtp({
    ...{ address, port, isImplicitTls, until: 'greeting' },
    ...{ servername: host, ehloName: config.delivery.hostname },
  })
  const named = `${host} [${address}] at port ${port}`
  if (found.greeting === null) return { isOk: false, text: `${named}: ${found.error}` }
  // Any greeting shows that the way is open, even a refusal.
  return { isOk: true, text: `${named}: ${describeReply(found.greeting)}` }
}

function judge(answer: Answer, evidence: DeliveryEvidence, fixOfPort: string): Outcome {
  if (answer.isOk) return ok(answer.text)
  const { answered, unanswered } = evidence
  const fix = unanswered.length > 0 ? fixOfPort : (answer.fix ?? fixOfPort)
  if (answered === null || unanswered.length > 0) {
    return failed([answer.text, ...describeSilent(evidence)].join('; '), fix)
  }
  const at = formatSecond(answered.at)
  return warning(`${answer.text}; but ${answered.host} answered a delivery at ${at}`, fix)
}

function judgeDeliveries(evidence: DeliveryEvidence, fix: string): Outcome {
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
