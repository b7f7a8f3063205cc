/** The buttons of the providers that people log in with. */
import { config } from '../../api/session.ts'
import { t } from '../../text/text.ts'

type Provider = { name: 'github' | 'google' | 'oidc'; label: string }

/** The providers that are configured, in the order of their buttons. */
export function listProviders(): readonly Provider[] {
  const { github, google, oidc } = config.value?.features.authProviders ?? {}
  const known: (Provider | false)[] = [
    github === true && { name: 'github', label: 'GitHub' },
    google === true && { name: 'google', label: 'Google' },
    oidc != null && { name: 'oidc', label: oidc.name },
  ]
  return known.filter((one) => one !== false)
}

/** `isOver`: over a page that is kept, so the provider opens in a tab of its own. */
export function ProviderLinks({ isOver = false }: { isOver?: boolean }) {
  // The address has the host of `base_url`: the provider sends the browser back there, where the cookie is set.
  const origin = config.value?.urls.api ?? ''
  return (
    <>
      {listProviders().map(({ name, label }) => (
        <p key={name}>
          <a
            class="btn fill"
            href={`${origin}/oauth/${name}/outbound`}
            {...(isOver && { target: '_blank' })}
          >
            {t('door.with', { provider: label })}
          </a>
        </p>
      ))}
    </>
  )
}
