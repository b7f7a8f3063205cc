import { t } from '../../text/text.ts'
import { Page } from '../../ui/page.tsx'

export default function Email() {
  return <Page title={t('nav.emails')} />
}
