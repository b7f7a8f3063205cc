/**
 * The hosted page that the link of an invitation opens. GET shows the invitation and changes nothing,
 * so link scanners do no harm; POST accepts it and redirects (303) to the page, which shows the new
 * state. Whoever holds the link of a newcomer may make the account, so a page of another site cannot
 * post here.
 */
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { AppError, isInvalid } from '../../../base/errors.ts'
import { acceptInvitation } from '../../../features/tenancy/accounts/invitations/accept.ts'
import { findInvitationView } from '../../../features/tenancy/accounts/invitations/show.ts'
import { loginCookies } from '../../exchange/cookies.ts'
import { refuseCrossSite } from '../../exchange/same-origin.ts'
import { clientOf, findSessionUser } from '../../exchange/session.ts'
import { goneInvitationView, invitationView } from '../../pages/invitation-view.ts'
import { NO_SUCH_PAGE } from '../../pages/layout.ts'
import { readerLanguage } from '../../pages/reader-language.ts'
import { errorView } from '../../pages/views.ts'
import type { HttpResponse } from '../../response.ts'
import { type Call, openOperation, type RouteDeps } from '../../route.ts'
import { addressNetwork } from '../../server/client-address.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

type PageDeps = Pick<RouteDeps, 'core' | 'layout'>
type PageCall = Call<undefined, unknown>

const form = z.object({ password: z.string().optional().catch(undefined) })

export const show = (deps: PageDeps) =>
  openOperation({
    ...sharedShape(deps),
    summary: 'Show an invitation',
    handle: (call) => showPage(deps, call),
  })

export const accept = (deps: PageDeps) =>
  openOperation({
    ...sharedShape(deps),
    summary: 'Accept an invitation as the form of the page requests',
    growsDisk: true,
    takesForm: true,
    body: form,
    handle: async (call) => {
      refuseCrossSite(call.incoming, deps.core.config.baseUrl)
      if (call.params.token === undefined) throw noSuchPage()
      try {
        return await acceptByForm(deps, call)
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error
        // After a redirect, the page says why the reader cannot accept.
        if (!isInvalid(error)) return redirectToPage(call)
        return showPage(deps, call, true)
      }
    },
  })

function sharedShape({ layout }: PageDeps) {
  return {
    isHidden: true,
    isUnlogged: true,
    tag: 'Pages',
    responses: { 200: { description: 'A page' } },
    showError: ({ code, status }: AppError, incoming: IncomingMessage) => {
      const language = languageOf(incoming)
      const isGone = code === 'RESOURCE_NOT_FOUND'
      return layout(isGone ? goneInvitationView(language) : errorView(status, language))
    },
  } as const
}

async function showPage(
  { core, layout }: PageDeps,
  { incoming, params }: PageCall,
  isWrongPassword = false,
): Promise<HttpResponse> {
  const user = await findSessionUser(core, incoming)
  const shown = await findInvitationView(core, params.token ?? '', user)
  if (shown === undefined) throw noSuchPage()
  return layout(invitationView(shown, { language: languageOf(incoming), isWrongPassword }))
}

async function acceptByForm(
  { core }: PageDeps,
  call: Call<undefined, z.infer<typeof form>>,
): Promise<HttpResponse> {
  const { incoming, address, params, body } = call
  const acceptance = {
    token: params.token ?? '',
    user: await findSessionUser(core, incoming),
    password: body.password,
    language: languageOf(incoming),
    client: clientOf(incoming, address),
    wideNetwork: addressNetwork(address),
  }
  const made = await whileClientWaits(incoming, (signal) =>
    acceptInvitation(core, { ...acceptance, signal }),
  )
  const cookies = made.cookies ? loginCookies(core.config, made.cookies, core.now()) : []
  return { ...redirectToPage(call), cookies }
}

/** The location is relative, so that it works below any path that a proxy maps. */
function redirectToPage({ params }: PageCall): HttpResponse {
  return { status: 303, body: '', headers: { location: encodeURIComponent(params.token ?? '') } }
}

function noSuchPage(): AppError {
  return new AppError('RESOURCE_NOT_FOUND', NO_SUCH_PAGE)
}

function languageOf({ headers }: IncomingMessage) {
  return readerLanguage(headers['accept-language'])
}
