/**
 * Whether each address of this server has a name, whether the name is the one of EHLO, and whether it
 * leads back to the address. Large receivers refuse mail from addresses without this circle.
 */
import ipaddr from 'ipaddr.js'
import { reverseNameOf } from '../../mail/domains/server-records.ts'
import type { Check, CheckContext } from './check.ts'
import { noAnswer } from './no-answer.ts'
import { failed, ok } from './outcome.ts'
import { combine, type Part } from './parts.ts'
import { skipUnlessDirect } from './skip-mode.ts'

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

async function checkAddress({ config, probes }: CheckContext, address: string): Promise<Part> {
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
): Promise<Part> {
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
