import { t } from '../../text/text.ts'
import { Page } from '../../ui/page.tsx'

export default function Onboarding() {
  return <Page title={t('nav.overview')} />
}
