/** Variables that a campaign prints and that none of its recipients has. */
import type { Finding } from '../../../mail/compose/message-findings.ts'
import { jsonValue } from '../../../store/dialect.ts'
import { and, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import type { ContactScope } from '../../contacts/list/scope.ts'
import { walkContacts } from '../../contacts/list/walk.ts'
import type { FoundCampaign } from '../find.ts'
import { listNamedVariables } from './named-variables.ts'

type Deps = Pick<Base, 'store'>

/** Each may take a walk over the whole audience. */
const MAX_VARIABLES = 20

const findKey = statement<{ key: string }>(
  () => sql`select key from contact_fields
    where project_id = ${parameter('projectId')} and key = ${parameter('key')} and contacts > 0
    limit 1`,
)

export async function findUnfilledVariables(
  deps: Deps,
  { subject, body }: Pick<FoundCampaign, 'subject' | 'body'>,
  recipients: ContactScope,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const key of listNamedVariables([subject, body]).slice(0, MAX_VARIABLES)) {
    if (!(await isFilled(deps, recipients, key))) findings.push(toFinding(key))
  }
  return findings
}

async function isFilled(
  deps: Deps,
  { condition, ...recipients }: ContactScope,
  key: string,
): Promise<boolean> {
  const { projectId } = recipients
  const known = await deps.store.read.find(findKey, { projectId, key })
  if (known === undefined) return false
  const value = jsonValue(sql`contacts.data`, key)
  const scope = { ...recipients, condition: and(condition, sql`coalesce(${value}, '') <> ''`) }
  for await (const page of walkContacts(deps, scope, { size: 1 })) return page.length > 0
  return false
}

function toFinding(key: string): Finding {
  return {
    code: 'unfilled_variable',
    severity: 'warning',
    message: `No recipient has a value for {{${key}}}.`,
    fix: `Correct the name, or give the variable a fallback: {{${key} ?? …}}.`,
  }
}
