/** `domain …`: sender domains and their DNS records. */
import { getServers } from 'node:dns'
import {
  addDomain,
  type DomainLookup,
  deleteDomain,
  listDomains,
  loadDomain,
} from '../features/mail/domains/domains.ts'
import { describeRisk, formatZoneLine } from '../features/mail/domains/records.ts'
import { checkServerRecords, type ServerRecord } from '../features/mail/domains/server-records.ts'
import { verifyDomain } from '../features/mail/domains/verify.ts'
import { loadProject } from '../features/tenancy/accounts/projects/projects.ts'
import { displayDomain } from '../formats/address/address.ts'
import type { DomainRecord } from '../records/domain.ts'
import { DOMAIN_COLUMNS, domainState } from '../records/tables.ts'
import { isUuid } from '../store/ids.ts'
import { type CommandContext, type Input, type Result, withCore } from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { escapeControls, formatRecords, formatTable } from './engine/text.ts'

export async function addDomainCommand(context: CommandContext, input: Input): Promise<Result> {
  const [domain = ''] = input.args
  const { added, server } = await withCore(context, async (core) => ({
    added: await addDomain(core, { projectId: input.required('project'), domain }),
    server: input.has('check') ? await checkServerRecords(core) : undefined,
  }))
  const shown = showRecords(added, input)
  const zone = shown.map(formatZoneLine)
  const next = `Create these records, then run: ${formatCommand(['domain', 'verify', added.domain], context.configPath)}`
  const text = [
    describeDomain(added, shown),
    ['The same records as lines of a zone file:', '', ...zone].join('\n'),
    ...(server === undefined ? [] : [describeServer(server)]),
    escapeControls(next),
  ]
  const json = { ...added, zone, ...(server === undefined ? {} : { server }) }
  return { json, text: text.join('\n\n') }
}

/**
 * Runs `domain verify` with the name of a domain, or with its id if several projects have added the
 * same name.
 */
export async function verifyDomainCommand(context: CommandContext, input: Input): Promise<Result> {
  const lookup = readLookup(input)
  const trust = input.has('trust')
  const { domain, servers } = await withCore(context, async (core) => ({
    domain: await verifyDomain(core, lookup, { trust }),
    servers: core.config.dns.servers,
  }))
  const shown = describeDomain(domain, showRecords(domain, input))
  if (trust) return { json: domain, text: shown }
  const { lines, isFailed } = listFaults(domain, servers)
  return { json: domain, text: [shown, ...lines.map(escapeControls)].join('\n\n'), isFailed }
}

/**
 * Lists the required records that are wrong, and says for how many records DNS did not answer.
 * `isFailed`: a required record was not found.
 */
function listFaults({ domain, records }: DomainRecord, servers: readonly string[]) {
  const counted = records.filter(({ purpose }) => purpose !== 'replies')
  const lacking = counted.filter((record) => record.required && record.state !== 'found')
  const wrong = lacking
    .filter(({ state }) => state !== 'unknown')
    .map(({ state, type, name }) => `${type} ${name} is ${state}`)
  const unknown = counted.filter(({ state }) => state === 'unknown').length
  const asked = (servers.length > 0 ? servers : getServers()).join(', ')
  const lines = [
    ...(wrong.length > 0
      ? [`A required record of ${domain} is not right: ${wrong.join(', ')}.`]
      : []),
    ...(unknown > 0
      ? [`DNS did not answer (servers ${asked}) for ${unknown} of ${counted.length} records.`]
      : []),
  ]
  return { lines, isFailed: lacking.length > 0 }
}

export async function removeDomainCommand(context: CommandContext, input: Input): Promise<Result> {
  const lookup = readLookup(input)
  const { id, domain, projectId } = await withCore(context, async (core) => {
    const found = await loadDomain(core, lookup, { isOnly: true })
    await deleteDomain(core, found)
    return found
  })
  const name = displayDomain(domain)
  const text = `Removed: ${escapeControls(name)} of project ${projectId}.`
  return { json: { id, domain: name, projectId }, text }
}

export async function listDomainsCommand(context: CommandContext, input: Input): Promise<Result> {
  const projectId = input.text('project')?.trim().toLowerCase()
  const domains = await withCore(context, async (core) => {
    if (projectId !== undefined) await loadProject(core, projectId)
    return listDomains(core, projectId)
  })
  return { json: domains, text: formatRecords(DOMAIN_COLUMNS, domains, 'No domains yet.') }
}

function readLookup({ args: [name = ''] }: Input): DomainLookup {
  return isUuid(name) ? { id: name } : { domain: name }
}

/**
 * Leaves out the MX record for replies unless `--replies` is given: setting this record would
 * redirect the domain's existing mail.
 */
function showRecords({ records }: DomainRecord, input: Input): DomainRecord['records'] {
  return records.filter(({ purpose }) => purpose !== 'replies' || input.has('replies'))
}

function describeDomain(domain: DomainRecord, records: DomainRecord['records']): string {
  const head = `${escapeControls(domain.domain)}: ${domainState(domain)}`
  return [head, ...records.map(describeRecord)].join('\n\n')
}

function describeServer(records: readonly ServerRecord[]): string {
  const rows = records.map(({ name, type, value, required, state, found }) => [
    state === 'missing' && !required ? 'missing (optional)' : state,
    type,
    name,
    state === 'different' ? `${found.join(', ')}, not ${value}` : found.join(', ') || (value ?? ''),
  ])
  return `Records of the server itself:\n\n${formatTable(['STATE', 'TYPE', 'NAME', 'VALUE'], rows, '')}`
}

function describeRecord(record: DomainRecord['records'][number]): string {
  const { purpose, required, state, type, name, value, found } = record
  const need = required ? 'required' : purpose === 'replies' ? 'optional' : 'recommended'
  const lines = [`${purpose} (${need}): ${state}`, `  ${type}  ${name}`, `  ${value}`]
  if (state === 'different') lines.push(...found.map((other) => `  found instead: ${other}`))
  const risk = describeRisk(record)
  if (risk !== null) lines.push(`  ${risk}`)
  return lines.map(escapeControls).join('\n')
}
