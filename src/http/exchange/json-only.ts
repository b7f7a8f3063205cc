/**
 * The API takes nothing but JSON where a login session begins or acts: a form, which any page can make a
 * browser send, is refused even if the browser does not say where the request comes from. Routes of project
 * keys ignore the content type, because some clients of this API family do not set a right one, and no page
 * can send a key by a form.
 */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../base/errors.ts'
import { isBodyless } from '../body/body.ts'

const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json$/

/** A body without a content type passes: no form sends one. @throws AppError UNSUPPORTED_MEDIA_TYPE */
export function refuseOtherMedia(incoming: IncomingMessage): void {
  const given = incoming.headers['content-type']
  if (given === undefined || isBodyless(incoming)) return
  const [type = ''] = given.split(';', 1)
  if (JSON_TYPE.test(type.trim().toLowerCase())) return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', {
    details: { acceptedTypes: ['application/json'] },
    suggestion: 'Send JSON with the header "Content-Type: application/json".',
  })
}
