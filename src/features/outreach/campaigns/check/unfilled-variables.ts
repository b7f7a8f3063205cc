/**
 * Finds variables that a campaign prints and that none of its recipients has. A variable with a
 * fallback or in a tag may lack a value on purpose, so it is reported only if no contact has it and
 * its name seems to be a slip.
 */
import { setImmediate } from 'node:timers/promises'
import { type Effort, newEffort } from '../../../../config/layers/closest.ts'
import type { MessageFinding } from '../../../../formats/compose/message-findings.ts'
import { CONTACT } from '../../../../formats/template/variables.ts'
import { jsonValue } from '../../../../store/dialect.ts'
import { and, sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { listDataKeys } from '../../../ground/conditions/data-keys.ts'
import { isKey, withoutFilled } from '../../../mail/templates/filled-keys.ts'
import { isForeignName } from '../../../mail/templates/foreign-syntax.ts'
import { nameVariables } from '../../../mail/templates/named-variables.ts'
import { suggestForSlip, suggestVariable } from '../../../mail/templates/suggest-variable.ts'
import type { ContactScope } from '../../../people/contacts/list/scope.ts'
import { walkContacts } from '../../../people/contacts/list/walk.ts'
import type { FoundCampaign } from '../campaign.ts'

type Deps = Pick<Base, 'store'>

/**
 * At most this many variables are looked for, because each may take a walk over the whole audience.
 */
const MAX_VARIABLES = 20
/** At most this many names that no contact has are compared with the keys of contacts. */
const MAX_COMPARED = 100

const findKey = statement<{ key: string }>(
  () => sql`select key from contact_fields
    where project_id = ${parameter('projectId')} and key = ${parameter('key')} and contacts > 0
    limit 1`,
)

export async function findUnfilledVariables(
  deps: Deps,
  { subject, body }: Pick<FoundCampaign, 'subject' | 'body'>,
  recipients: ContactScope,
): Promise<MessageFinding[]> {
  const findings: MessageFinding[] = []
  const effort = newEffort()
  const keys = await listDataKeys(deps.store.read, recipients.projectId)
  const hasContact = await isKey(deps.store.read, recipients.projectId, CONTACT)
  const { printed, guarded } = nameVariables([subject, body], { hasContact })
  // Placeholders of other services are left out, because another finding reports them.
  const isOwn = (name: string) => !isForeignName(name)
  for (const key of printed.filter(isOwn).slice(0, MAX_VARIABLES)) {
    if (!(await isFilled(deps, recipients, key)))
      findings.push(toFinding(key, suggestVariable(key, keys, effort)))
  }
  const { projectId } = recipients
  findings.push(...(await findSlips(deps, { projectId, keys, effort }, guarded.filter(isOwn))))
  return findings
}

/** `keys`: the keys in the data of contacts. */
type Compared = { projectId: string; keys: readonly string[]; effort: Effort }

/** Finds names that seem to be slips. Other work may run between two names. */
async function findSlips(
  { store }: Deps,
  { projectId, keys, effort }: Compared,
  names: readonly string[],
): Promise<MessageFinding[]> {
  const findings: MessageFinding[] = []
  let compared = 0
  for await (const name of withoutFilled(store.read, projectId, names)) {
    const hint = suggestForSlip(name, keys, effort)
    if (hint !== undefined) findings.push(toSlip(name, hint))
    compared += 1
    if (compared === MAX_COMPARED || findings.length === MAX_VARIABLES) break
    await setImmediate()
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

function toFinding(key: string, hint: string | undefined): MessageFinding {
  return {
    code: 'unfilled_variable',
    severity: 'warning',
    message: `No recipient has a value for {{${key}}}.`,
    fix: `${hint === undefined ? '' : `${hint} `}Correct the name, or give the variable a fallback: {{${key} ?? …}}.`,
  }
}

function toSlip(key: string, hint: string): MessageFinding {
  return {
    code: 'unfilled_variable',
    severity: 'info',
    message: `No recipient has a value for {{${key}}}: everybody gets what the text has in its place.`,
    fix: `${hint} Correct the name, if it is a slip.`,
  }
}
