/** The checks of this server's addresses: their names in DNS, and blocklists. */
import ipaddr from 'ipaddr.js'
import { reversedLabels, reverseNameOf } from '../../mail/domains/server-records.ts'
import type { Check, CheckContext } from './check.ts'
import {
  type CheckPart,
  combine,
  failed,
  noAnswer,
  ok,
  skipped,
  skipUnlessDirect,
  warning,
} from './outcome.ts'

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
