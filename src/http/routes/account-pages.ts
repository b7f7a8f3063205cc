/**
 * The hosted pages that mail to users links to. GET shows what the link can do and changes nothing. The
 * forms post to routes of their own, which redirect (303) to a page that says how it went: reloading
 * it, or going back, posts nothing again.
 *
 * The forms' routes are outside `/auth/`: the pages send no referrer, so browsers state no origin
 * (`Origin: null`), which routes below `/auth/` refuse. The token proves more than an origin does.
 */
import { z } from 'zod'
import type { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { findReset, resetPassword } from '../../features/tenancy/accounts/passwords/reset.ts'
import {
  findVerification,
  invalidToken,
  verifyByToken,
} from '../../features/tenancy/accounts/sign-up/verify-address.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../records/limits.ts'
import type { Language } from '../../texts/languages.ts'
import { deviceCookie } from '../exchange/cookies.ts'
import { isFromOtherSite } from '../exchange/same-origin.ts'
import type { HtmlPage, Layout } from '../pages/layout.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import {
  changedView,
  errorView,
  expiredView,
  resetView,
  verifiedView,
  verifyView,
} from '../pages/views.ts'
import type { HttpResponse } from '../response.ts'
import { type Call, openOperation, type RouteDeps } from '../route.ts'
import { addressNetwork } from '../server/client-address.ts'
import { whileClientWaits } from '../server/client-gone.ts'

const text = z.string().catch('')

/**
 * `done`: shows the page that says that it is done. `refused`: the last password broke the
 * rule for passwords.
 */
const pageQuery = z.object({
  token: text.default(''),
  done: z.literal('1').optional().catch(undefined),
  refused: z.literal('1').optional().catch(undefined),
})
const verifyForm = z.object({ token: text.default('') })
const resetForm = z.object({ token: text.default(''), password: text.default('') })

type Incoming = Call<unknown, unknown>['incoming']

export const showVerifyEmail = ({ core, layout }: RouteDeps) =>
  openOperation({
    ...sharedShape(layout),
    summary: 'Ask whether the address may be confirmed',
    query: pageQuery,
    handle: async ({ query, incoming }) =>
      layout(await verifyPage(core, query, languageOf(incoming))),
  })

export const confirmEmail = ({ core, layout }: RouteDeps) =>
  openOperation({
    ...sharedShape(layout),
    summary: 'Confirm an address',
    takesForm: true,
    body: verifyForm,
    handle: async ({ body }) => {
      const state = await findVerification(core, body.token)
      // If the button was pressed before, the address is verified already.
      if (state !== 'done') await verifyByToken(core, body.token)
      return redirect('auth/verify-email?done=1')
    },
  })

export const showResetPassword = ({ core, layout }: RouteDeps) =>
  openOperation({
    ...sharedShape(layout),
    summary: 'Ask for a new password',
    query: pageQuery,
    handle: async ({ query, incoming }) =>
      layout(await resetPage(core, query, languageOf(incoming))),
  })

export const savePassword = ({ core, layout }: RouteDeps) =>
  openOperation({
    ...sharedShape(layout),
    summary: 'Save a new password',
    takesForm: true,
    body: resetForm,
    handle: async ({ body: { token, password }, incoming, address }) => {
      if ((await findReset(core, token)) === undefined) throw invalidToken()
      if (!isAllowed(password)) return redirect(`auth/reset-password?token=${token}&refused=1`)
      const device = await whileClientWaits(incoming, (signal) =>
        resetPassword(core, { token, password, wideNetwork: addressNetwork(address), signal }),
      )
      // A form of another site could replace the cookie of the reader's browser by that of its own
      // account.
      const isForeign = isFromOtherSite(incoming)
      const cookies = isForeign ? [] : [deviceCookie(core.config, device, core.now())]
      return { ...redirect('auth/reset-password?done=1'), cookies }
    },
  })

function sharedShape(layout: Layout) {
  return {
    isHidden: true,
    isUnlogged: true,
    tag: 'Pages',
    responses: { 200: { description: 'A page' } },
    showError: (error: AppError, incoming: Incoming) => {
      const language = languageOf(incoming)
      return layout(
        error.code === 'BAD_REQUEST' ? expiredView(language) : errorView(error.status, language),
      )
    },
  } as const
}

type PageQuery = z.infer<typeof pageQuery>

async function verifyPage(
  core: Pick<Core, 'store' | 'now'>,
  { token, done }: PageQuery,
  language: Language,
): Promise<HtmlPage> {
  if (done !== undefined) return verifiedView(language)
  const state = await findVerification(core, token)
  if (state === 'done') return verifiedView(language)
  return state === 'open' ? verifyView(language, token) : expiredView(language)
}

async function resetPage(
  core: Pick<Core, 'store' | 'now'>,
  { token, done, refused }: PageQuery,
  language: Language,
): Promise<HtmlPage> {
  if (done !== undefined) return changedView(language)
  const account = await findReset(core, token)
  if (account === undefined) return expiredView(language)
  return resetView(language, {
    ...{ ...account, token, isRefused: refused !== undefined },
    ...{ minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH },
  })
}

function isAllowed({ length }: string): boolean {
  return length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH
}

/** The location is relative, so that it works below any path that a proxy maps. */
function redirect(location: string): HttpResponse {
  return { status: 303, body: '', headers: { location } }
}

function languageOf({ headers }: Incoming): Language {
  return readerLanguage(headers['accept-language'])
}
