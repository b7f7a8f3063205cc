/**
 * The snapshot of mail of the server to its users. Its links choose passwords, so it is sealed from
 * acceptance until the email is final, and only a delivery opens it: previews, lists, exports and
 * backups read `variables`, which such mail does not have.
 */
import { findLinkTokens } from '../../../../formats/link-tokens.ts'
import type { Snapshot } from '../../../../store/schema/json-values.ts'
import type { Email } from '../../../../store/schema/messages.ts'
import type { Base } from '../../../ground/base.ts'

/** `secrets`: the tokens in its links, which no reply may show. */
type OpenedSnapshot = { snapshot: Snapshot | null; secrets: readonly string[] }

export function sealSnapshot({ keyring }: Pick<Base, 'keyring'>, snapshot: Snapshot): string {
  return keyring.seal(JSON.stringify(snapshot))
}

/** @throws TypeError when no known secret sealed it */
export function openSnapshot(
  { keyring }: Pick<Base, 'keyring'>,
  { variables, sealedVariables }: Pick<Email, 'variables' | 'sealedVariables'>,
): OpenedSnapshot {
  if (sealedVariables === null) return { snapshot: variables, secrets: [] }
  const text = keyring.unseal(sealedVariables)
  return { snapshot: JSON.parse(text) as Snapshot, secrets: findLinkTokens(text) }
}
