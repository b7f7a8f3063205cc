/** The texts of the footer of marketing mail, by language; `{project}`: the sender's project. */
import type { Language } from '../languages.ts'

/** The texts contain no characters that are special in HTML. */
type Phrases = { sentence: string; link: string }

export const FOOTER_PHRASES: Readonly<Record<Language, Phrases>> = {
  en: {
    sentence: 'You receive this email because you are subscribed to {project}.',
    link: 'Unsubscribe or change your preferences',
  },
  nl: {
    sentence: 'Je ontvangt deze e-mail omdat je je hebt ingeschreven bij {project}.',
    link: 'Afmelden of je voorkeuren wijzigen',
  },
  fr: {
    sentence: 'Vous recevez cet e-mail parce que vous êtes abonné(e) à {project}.',
    link: 'Se désabonner ou modifier vos préférences',
  },
  hi: {
    sentence: 'आपको यह ईमेल इसलिए मिला है क्योंकि आपने {project} की सदस्यता ली है।',
    link: 'सदस्यता छोड़ें या अपनी प्राथमिकताएँ बदलें',
  },
  de: {
    sentence: 'Sie erhalten diese E-Mail, weil Sie Nachrichten von {project} abonniert haben.',
    link: 'Abmelden oder Einstellungen ändern',
  },
  pt: {
    sentence: 'Este e-mail foi enviado porque a sua inscrição em {project} está ativa.',
    link: 'Cancelar a inscrição ou alterar as preferências',
  },
  bg: {
    sentence: 'Получавате този имейл, защото сте абонирани за {project}.',
    link: 'Отписване или промяна на предпочитанията',
  },
  cs: {
    sentence: 'Tento e-mail dostáváte, protože odebíráte zprávy od {project}.',
    link: 'Odhlásit se nebo změnit předvolby',
  },
  pl: {
    sentence: 'Ta wiadomość dotarła do Ciebie, ponieważ subskrybujesz {project}.',
    link: 'Zrezygnuj z subskrypcji lub zmień preferencje',
  },
  es: {
    sentence: 'Recibe este correo porque está suscrito a {project}.',
    link: 'Darse de baja o cambiar las preferencias',
  },
  it: {
    sentence: 'Ricevi questa email perché la tua iscrizione a {project} è attiva.',
    link: 'Annulla l’iscrizione o modifica le preferenze',
  },
  'zh-TW': {
    sentence: '您收到這封電子郵件，是因為您訂閱了 {project}。',
    link: '取消訂閱或變更偏好設定',
  },
  'zh-HK': {
    sentence: '您收到此電郵，是因為您訂閱了 {project}。',
    link: '取消訂閱或更改偏好設定',
  },
  'zh-CN': {
    sentence: '您收到这封邮件，是因为您订阅了 {project}。',
    link: '退订或更改偏好设置',
  },
  ja: {
    sentence: '{project} の配信に登録されているため、このメールをお送りしています。',
    link: '配信停止・設定の変更',
  },
  sv: {
    sentence: 'Du får det här mejlet eftersom du prenumererar på {project}.',
    link: 'Avsluta prenumerationen eller ändra dina inställningar',
  },
  cy: {
    sentence: 'Rydych yn derbyn yr e-bost hwn oherwydd eich bod wedi tanysgrifio i {project}.',
    link: 'Dad-danysgrifio neu newid eich dewisiadau',
  },
}
