/**
 * The checks of the records in DNS that sender domains and bounces need: return paths and DKIM
 * keys.
 */
import { createReturnPathLocalPart } from '../../../formats/signed-tokens.ts'
import { describeProbeReply } from '../../../outbound/probe/probe-smtp.ts'
import { newId } from '../../../store/ids.ts'
import {
  type Check,
  type CheckContext,
  type CheckOutcome,
  type CheckPart,
  combine,
  failed,
  noAnswer,
  ok,
  skipInSandbox,
  skipped,
  warning,
} from './check.ts'
import { type CheckedDomain, countDomains } from './sender-domains.ts'

const MAX_SHOWN_KEY = 120
/** The enhanced code of a server that has no room for mail (RFC 3463, section 3.4). */
const NO_SPACE = '4.3.1'
/**
 * Added to outcomes that are only a consequence of a wrong name of the server, which `reverse_dns`
 * checks.
 */
const NAMELESS = { follows: ['reverse_dns'] } satisfies Partial<CheckOutcome>

/**
 * Whether bounces come back: the MX records of the return paths lead to this server, and the
 * server that answers there accepts a return path that this one signed. The probe sends no mail. A
 * machine behind NAT often cannot reach its own public address, so no connection is a warning.
 */
export const returnPathCheck: Check = {
  id: 'return_path',
  run: async (context) => {
    const { config, facts } = context
    const skip = skipInSandbox(config)
    if (skip !== undefined) return skip
    if (config.inbound.listen.length === 0) return receivesNothing(config.delivery.mode)
    const domains = await facts.domains()
    const [own, session] = await Promise.all([checkOwn(context), probeHost(context)])
    const parts = [own, ...domains.checked.map((one) => checkReturnPath(config, one)), session]
    const { returnPathDomain, hostname } = config.delivery
    const summary = `${returnPathDomain} and the return paths of ${countDomains(domains)} lead to ${hostname}; ${session.evidence}`
    return combine(parts, summary)
  },
}

function receivesNothing(mode: string): CheckOutcome {
  const text = 'inbound.listen is empty: this server receives no bounces'
  if (mode === 'relay') return skipped(text)
  return warning(text, '[inbound]\nlisten = ["0.0.0.0:25"]')
}

async function checkOwn({ config, probes }: CheckContext): Promise<CheckPart> {
  const { hostname, returnPathDomain } = config.delivery
  const fix = `${returnPathDomain}. IN MX 10 ${hostname}.`
  const answer = await probes.dns.mx(returnPathDomain)
  if (answer.kind === 'failed')
    return noAnswer(config, `MX of ${returnPathDomain}: ${answer.error}`)
  const hosts = answer.kind === 'found' ? answer.records.map(({ host }) => host) : []
  if (hosts.includes(hostname)) return ok(returnPathDomain)
  return failed(describeWrong(returnPathDomain, hosts), fix)
}

/**
 * A domain needs no return path of its own, so a missing record is no fault, but a record that
 * leads to another server is.
 */
function checkReturnPath(
  config: CheckContext['config'],
  { name, record }: CheckedDomain,
): CheckPart {
  const { state, found, zoneLine } = record('return-path')
  if (state === 'found') return ok(name)
  if (state === 'unknown') return noAnswer(config, `MX of bounce.${name}: DNS gave no answer`)
  if (state === 'missing') return skipped(`bounce.${name} is not used`)
  const hosts = found.map((text) => text.split(' ').at(-1) ?? '')
  return failed(describeWrong(`bounce.${name}`, hosts), zoneLine)
}

function describeWrong(name: string, hosts: readonly string[]): string {
  const shown = hosts.map((host) => host || '.').join(', ')
  return shown === '' ? `${name} has no MX record` : `the MX record of ${name} leads to ${shown}`
}

/** Connects to `delivery.hostname` only, whatever the MX records say. */
async function probeHost(context: CheckContext): Promise<CheckPart> {
  const { config, probes, keyring } = context
  const { hostname, port, returnPathDomain } = config.delivery
  const host = await probes.addressesOf(hostname)
  if (host.fault !== null) {
    const fix = `${hostname}. IN A <the public address of this server>`
    const found = host.isUnknown ? noAnswer(config, host.fault) : warning(host.fault, fix)
    return { ...found, ...NAMELESS }
  }
  const [address] = host.addresses
  const localPart = createReturnPathLocalPart(keyring.keys('return-path')[0], newId())
  const found = await probes.smtp({
    ...{ address, port, until: 'starttls', servername: hostname, ehloName: hostname },
    recipient: `${localPart}@${returnPathDomain}`,
  })
  return judgeSession(`${hostname} [${address}] at port ${port}`, found)
}

function judgeSession(
  named: string,
  { greeting, recipientReply, error }: Awaited<ReturnType<CheckContext['probes']['smtp']>>,
): CheckPart {
  if (greeting === null) {
    const text = `${named} does not answer this machine: ${error}`
    const fix =
      'From another machine, connect to this address and port. If that works, this machine is behind NAT and nothing is wrong; otherwise open the port in the firewall.'
    return { ...warning(text, fix), follows: ['smtp_egress'] }
  }
  if (recipientReply !== null && recipientReply.code < 300) {
    return ok(`${named} accepts the return paths of this server`)
  }
  const said = recipientReply ?? greeting
  const isTemporary = said.code >= 400 && said.code < 500
  const text = `${named} does not accept a return path of this server: ${recipientReply === null && error !== null ? error : describeProbeReply(said)}`
  const fix =
    'Point the A record of delivery.hostname at this server, and let port 25 of that address lead to inbound.listen.'
  const isFull = said.enhancedCode === NO_SPACE
  return {
    ...(isTemporary || recipientReply === null ? warning(text, fix) : failed(text, fix)),
    ...(isFull ? { follows: ['disk_space', 'inodes'] } : {}),
  }
}

/**
 * Whether DNS has both keys that mail of each sender domain is signed with (RFC 6376, RFC 8463). A
 * second key that was never published is no fault: mail then has one signature.
 */
export const dkimCheck: Check = {
  id: 'dkim',
  run: async ({ config, facts }) => {
    const skip = skipInSandbox(config)
    if (skip !== undefined) return skip
    const domains = await facts.domains()
    if (domains.total === 0) return skipped('no project has a verified domain')
    const parts = domains.checked.flatMap((one) => [
      checkKey(config, one, 'dkim'),
      checkKey(config, one, 'dkim-ed25519'),
    ])
    return combine(parts, `${countDomains(domains)}: both keys are published`)
  },
}

function checkKey(
  config: CheckContext['config'],
  { name, domain, record }: CheckedDomain,
  purpose: 'dkim' | 'dkim-ed25519',
): CheckPart {
  const { state, found, zoneLine } = record(purpose)
  const isUsed = purpose === 'dkim' || domain.isEd25519Found
  const selector = purpose === 'dkim' ? domain.rsaSelector : domain.ed25519Selector
  const at = `${selector}._domainkey.${name}`
  switch (state) {
    case 'found':
      return ok(at)
    case 'different':
      return failed(`${at} has another key: ${found.join(' | ').slice(0, MAX_SHOWN_KEY)}`, zoneLine)
    case 'missing':
      return isUsed
        ? failed(`${at} does not exist, and mail is signed with this key`, zoneLine)
        : warning(`${at} does not exist, so mail has no Ed25519 signature`, zoneLine)
    case 'unknown':
      return noAnswer(config, `${at}: DNS gave no answer`)
  }
}
