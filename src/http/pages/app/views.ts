/** The pages at `/app`, where logins end, until there is a dashboard. */
import { html } from 'hono/html'
import { LOGIN_FAILURES } from '../../../features/tenancy/accounts/oauth/login-failure.ts'
import { fillPieces, type Values } from '../../../texts/fill.ts'
import type { Language } from '../../../texts/languages.ts'
import { type Texts, textsOf } from '../../../texts/texts.ts'
import { accountCall, logInCall, sessionCall, showCalls } from '../calls.ts'
import type { Page } from '../layout.ts'
import type { Html } from '../phrase.ts'

const PLACEHOLDER = 'you@example.org'

type ProviderLink = { label: string; url: string }

/** `docs`, `logOut`: paths. `baseUrl`: of the calls that are shown. */
type HomeInput = {
  language: Language
  address: string
  /** Newest first. */
  projects: readonly { id: string; name: string }[]
  baseUrl: string
  docs: string
  logOut: string
}
/** `failure`: the code in the query, which anyone may have written. */
type LoginInput = {
  language: Language
  failure: string | undefined
  providers: readonly ProviderLink[]
  isSignUpOpen: boolean
  baseUrl: string
  docs: string
}

/** There is no dashboard: the page says how a program goes on, with this user's projects. */
export function homeView(input: HomeInput): Page {
  const { language, address, projects, baseUrl, docs, logOut } = input
  const { home } = textsOf(language).app
  return page(language, home.title, [
    html`<p>${fill(home.text, { email: address })}</p>\n<p>${home.next}</p>\n`,
    ...projects.map(
      ({ id, name }) => html`<p><strong><bdi>${name}</bdi></strong><br><code>${id}</code></p>\n`,
    ),
    showCalls(
      logInCall(baseUrl, address),
      projects[0] === undefined
        ? sessionCall(`${baseUrl}/users/@me/projects`, { name: '…' })
        : `curl -sS -b cookies.txt -H 'X-Project-Id: ${projects[0].id}' ${baseUrl}/contacts`,
    ),
    html`<form method="post" action="${logOut}">
<button type="submit" class="quiet">${home.logOut}</button>
</form>
`,
    link(docs, home.docs),
  ])
}

/** There is no form for passwords: the page says how a program logs in. */
export function loginView(input: LoginInput): Page {
  const { language, failure, providers, isSignUpOpen, baseUrl, docs } = input
  const { login, home, failures } = textsOf(language).app
  const buttons = providers.map(
    ({ label, url }) =>
      html`<p><a class="button" href="${url}"><span>${fill(login.with, { provider: label })}</span></a></p>\n`,
  )
  return page(language, login.title, [
    failure === undefined
      ? html``
      : html`<p class="note" role="alert">${textOf(failures, failure)}</p>\n`,
    ...buttons,
    html`<p>${login.api}</p>\n`,
    showCalls(logInCall(baseUrl, PLACEHOLDER)),
    ...(isSignUpOpen
      ? [
          html`<p>${login.signUp}</p>\n`,
          showCalls(accountCall(`${baseUrl}/auth/signup`, PLACEHOLDER)),
        ]
      : [html`<p class="muted">${login.closed}</p>\n`]),
    link(docs, home.docs),
  ])
}

export function appErrorView(status: number, language: Language, home: string): Page {
  const texts = textsOf(language).app
  const { title, text } = status === 404 ? texts.notFound : texts.failed
  const shown = page(language, title, [html`<p>${text}</p>\n`, link(home, texts.notFound.home)])
  return { ...shown, status }
}

function page(language: Language, title: string, content: readonly Html[]): Page {
  const body = html`<h1>${title}</h1>\n${content}`
  return { status: 200, language, title, projectName: null, content: body }
}

function textOf(failures: Texts['app']['failures'], failure: string): string {
  return failures[LOGIN_FAILURES.find((code) => code === failure) ?? 'other']
}

/** `text` with the names in place of its placeholders, apart from the direction of the text around them. */
function fill(text: string, names: Values): Html {
  return html`${fillPieces(text, names, (name) => html`<bdi>${name}</bdi>`)}`
}

function link(href: string, text: string): Html {
  return html`<nav><ul><li><a href="${href}">${text}</a></li></ul></nav>\n`
}
