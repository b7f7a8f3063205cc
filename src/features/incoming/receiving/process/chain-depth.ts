/**
 * The depth of received mail in a chain of workflows (`workflows/chains`): of a message that an execution of
 * another project of this server sent, and of a machine's answer to mail of an execution, or of one beyond the
 * limit of its sender. Two servers that answer each other therefore stop.
 *
 * A person's answer begins a new chain: the person decides whether there is a next one.
 */
import type { Tx } from '../../../../store/write/transaction.ts'
import { depthsOfEmails } from '../../../ground/events/depth.ts'

type Causes = {
  /** The email that the message is, if this server sent it. */
  sentEmailId: string | null
  /** The email that the message answers. */
  answeredEmailId: string | null
  /** Whether a machine sent the message, or may have sent it. */
  isAutomatic: boolean
}

/** Undefined if no execution is the reason for the message. */
export async function findChainDepth(
  tx: Pick<Tx, 'list'>,
  { sentEmailId, answeredEmailId, isAutomatic }: Causes,
): Promise<number | undefined> {
  const ids = [sentEmailId, isAutomatic ? answeredEmailId : null].filter((id) => id !== null)
  const depths = await depthsOfEmails(tx, ids)
  return depths.size === 0 ? undefined : Math.max(...depths.values())
}
