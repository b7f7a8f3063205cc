import { addDomain } from '../features/domains/add.ts'
import { listDomains } from '../features/domains/list.ts'
import { verifyDomain } from '../features/domains/verify.ts'
import type { DomainView } from '../features/domains/view.ts'
import { isUuid } from '../store/ids.ts'
import { type Context, type Input, type Result, withCore } from './command.ts'
import { escapeControls, formatTable } from './text.ts'

export async function addDomainCommand(context: Context, input: Input): Promise<Result> {
  const [domain = ''] = input.args
  const added = await withCore(context, (core) =>
    addDomain(core, { projectId: input.required('project'), domain }),
  )
  const next = `Make these records, then run: pillarbox domain verify ${added.domain}`
  return { json: added, text: `${describeDomain(added)}\n\n${escapeControls(next)}` }
}

/** By its name, or by its id where several projects claim the same name. */
export async function verifyDomainCommand(context: Context, input: Input): Promise<Result> {
  const [name = ''] = input.args
  const target = isUuid(name) ? { id: name } : { domain: name }
  const trust = input.has('trust')
  const domain = await withCore(context, (core) => verifyDomain(core, target, { trust }))
  return { json: domain, text: describeDomain(domain) }
}

export async function listDomainsCommand(context: Context, input: Input): Promise<Result> {
  const domains = await withCore(context, (core) => listDomains(core, input.text('project')))
  const rows = domains.map((domain) => [
    domain.id,
    domain.domain,
    describeStanding(domain),
    domain.projectId,
  ])
  const head = ['ID', 'DOMAIN', 'STATE', 'PROJECT']
  return { json: domains, text: formatTable(head, rows, 'No domains yet.') }
}

function describeDomain(domain: DomainView): string {
  const head = `${escapeControls(domain.domain)}: ${describeStanding(domain)}`
  return [head, ...domain.records.map(describeRecord)].join('\n\n')
}

function describeStanding({ verified, trusted, status }: DomainView): string {
  if (trusted) return 'trusted'
  return verified ? 'verified' : `not verified (${status})`
}

function describeRecord(record: DomainView['records'][number]): string {
  const { purpose, required, state, type, name, value, found } = record
  const need = required ? 'required' : purpose === 'replies' ? 'optional' : 'recommended'
  const lines = [`${purpose} (${need}): ${state}`, `  ${type}  ${name}`, `  ${value}`]
  if (state === 'different') lines.push(...found.map((other) => `  found instead: ${other}`))
  return lines.map(escapeControls).join('\n')
}
