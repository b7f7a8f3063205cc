import { t } from '../../text/text.ts'
import { Page } from '../../ui/page.tsx'

export default function Emails() {
  return <Page title={t('nav.emails')} />
}
