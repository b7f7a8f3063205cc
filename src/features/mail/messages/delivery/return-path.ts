/** The return path of an email: its bounces come back with a signed token of the email. */
import type { KeyObject } from 'node:crypto'
import { createReturnPathLocalPart } from '../../../../formats/signed-tokens.ts'
import type { Base } from '../../../ground/base.ts'
import type { SenderDomain } from '../../../ground/directory.ts'

type ReturnPath = { localPart: string; domain: string; token: string }

/** `sender`: undefined once the project has no such verified domain. */
export function returnPathOf(
  { config, returnKey }: Pick<Base, 'config'> & { returnKey: KeyObject },
  { id, digest }: { id: string; digest: Buffer },
  sender: Pick<SenderDomain, 'domain' | 'isReturnPathFound'> | undefined,
): ReturnPath {
  const localPart = createReturnPathLocalPart(returnKey, id, digest)
  const domain = sender?.isReturnPathFound
    ? `bounce.${sender.domain}`
    : config.delivery.returnPathDomain
  return { localPart, domain, token: localPart.slice('b.'.length) }
}
