/**
 * Renders a text as a send would: the same variables, wrapper and footer, in the same threads. Nothing
 * is stored or tracked, and the links to the hosted pages are signed for nobody.
 */
import { AppError } from '../../../base/errors.ts'
import type { RenderedMessage, RenderSource } from '../../../formats/compose/build-message.ts'
import { NIL_UUID } from '../../../formats/signed-tokens.ts'
import { newId } from '../../../store/ids.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Contact } from '../../../store/schema/contacts.ts'
import type { ContentClass } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { mergeData, type ParsedData } from '../../people/contacts/write/data.ts'
import { takeSnapshot } from '../messages/accept/to-drafts.ts'
import { toDetachedSource } from '../messages/delivery/source.ts'

export type PreviewDeps = Pick<Base, 'config' | 'keyring' | 'outbound' | 'now'>

/** A text to render. `body`: HTML. */
export type PreviewText = { subject: string; body: string; type: ContentClass }

/** The person that the text is rendered for. */
export type PreviewReader = Pick<Contact, 'id' | 'address' | 'subscribed' | 'data'>

/** The reader of a preview that names no contact. */
export const NO_CONTACT: PreviewReader = {
  id: NIL_UUID,
  address: 'recipient@example.com',
  subscribed: true,
  data: null,
}

type PreviewInput = {
  project: Pick<Project, 'name' | 'language' | 'postalAddress'>
  text: PreviewText
  reader: PreviewReader
  /**
   * The data of the request. As in a send, the contact's data is changed by it before the text is
   * rendered.
   */
  data: ParsedData
}

/**
 * @throws AppError VALIDATION_ERROR for data that a send would refuse; BAD_REQUEST for a text that
 *   takes too much time or memory
 */
export async function renderPreview(
  deps: PreviewDeps,
  input: PreviewInput,
): Promise<RenderedMessage> {
  const [message] = await deps.outbound.preview([toPreviewSource(deps, input)])
  if (message === undefined || message === null) throw tooHeavy()
  return message
}

/** @throws AppError VALIDATION_ERROR for data that a send would refuse */
export function toPreviewSource(
  deps: Pick<PreviewDeps, 'config' | 'keyring' | 'now'>,
  { project, text: { type, subject, body }, reader, data }: PreviewInput,
): RenderSource {
  const stored = mergeData(reader.data, data.changes)
  return toDetachedSource(deps, {
    project,
    content: { id: newId(), subject, body, isText: false, text: null, attachments: [] },
    email: {
      contactId: reader.id,
      recipient: reader.address,
      isSubscribed: reader.subscribed,
      contentClass: type,
      variables: takeSnapshot(stored, data.variables),
      createdAt: deps.now(),
    },
  })
}

function tooHeavy(): AppError {
  return new AppError('BAD_REQUEST', 'The message takes too much time or memory to render.', {
    suggestion: 'Simplify its loops and filters.',
  })
}
