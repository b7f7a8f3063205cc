import type { Email } from '../../store/schema/messages.ts'
import type { Base } from '../base.ts'

/**
 * Whether nobody may read an email here: mail of the server to its users. Its links choose passwords, so
 * that whoever read them would log in as any user. In a sandbox, which is for trying things, all is shown.
 */
export function isContentHidden(
  { config }: Pick<Base, 'config'>,
  { isPlatform }: Pick<Email, 'isPlatform'>,
): boolean {
  return isPlatform && config.delivery.mode !== 'sandbox'
}
