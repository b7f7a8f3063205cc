/** `/app/me`: the account of the user, and how the dashboard looks in this browser. */
import { isOperator, user } from '../../api/session.ts'
import { account as accountTexts } from '../../text/en/account.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, t } from '../../text/text.ts'
import { outer } from '../../ui/link.ts'
import { Page } from '../../ui/page.tsx'
import { Appearance } from './appearance.tsx'
import { PasswordSection } from './password.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

addTexts(accountTexts, doorTexts, formTexts)

const PROVIDERS = { GITHUB_OAUTH: 'GitHub', GOOGLE_OAUTH: 'Google', OIDC: 'OpenID' } as const

export default function Account() {
  const self = user.value
  if (self === undefined) return null
  const { email, method } = self
  return (
    <Page title={t('shell.account')} text={email}>
      <div class="body account">
        <Appearance self={self} />
        {method === 'PASSWORD' ? (
          <>
            <PasswordSection email={email} />
            <SecondFactor isOn={self.twoFactor} />
          </>
        ) : (
          <section class="section">
            <h2>{t('account.password')}</h2>
            <p class="muted">{t('account.provider', { provider: PROVIDERS[method] })}</p>
          </section>
        )}
        <Sessions />
        {isOperator.value && (
          <section class="section">
            <h2>{t('account.operator')}</h2>
            <p>
              <a class="btn" href={outer('/setup')}>
                {t('account.operator.setUp')}
              </a>
            </p>
          </section>
        )}
      </div>
    </Page>
  )
}
