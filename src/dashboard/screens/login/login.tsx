/** `/app/login`: the log-in, and why one with a provider failed. */
import { useLocation } from 'preact-iso/router'
import { base } from '../../api/client.ts'
import { config, needsSetUp, user } from '../../api/session.ts'
import { nextPath } from '../../logic/next-path.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, codeText, t } from '../../text/text.ts'
import { Door } from '../../ui/door.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Leave } from '../../ui/leave.tsx'
import { hostName, outer } from '../../ui/link.ts'
import { listProviders, ProviderLinks } from './providers.tsx'
import { SignInForm } from './sign-in-form.tsx'

addTexts(doorTexts, formTexts)

export default function Login() {
  const { query } = useLocation()
  if (needsSetUp.value) return <Leave to={outer('/setup')} />
  if (user.value !== undefined) return <Leave to={nextPath(query.next, base)} />
  const isOpen = config.value?.features.signup.signupsDisabled === false
  return (
    <Door title={t('door.signIn')} host={hostName()}>
      {query.error !== undefined && (
        <p class="note bad" role="alert">
          <Icon name="warn" />
          <span>{codeText('door.failure', query.error) ?? t('door.failure.other')}</span>
        </p>
      )}
      <SignInForm />
      {listProviders().length > 0 && (
        <>
          <p class="or muted small">
            <span>{t('door.or')}</span>
          </p>
          <ProviderLinks />
        </>
      )}
      <p class="small muted">
        {isOpen ? <a href={outer('/signup')}>{t('door.makeAccount')}</a> : t('door.invited')}
      </p>
    </Door>
  )
}
