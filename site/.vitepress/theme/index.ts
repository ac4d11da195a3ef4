import DefaultTheme from "vitepress/theme";
import type { App } from "vue";
import Calculator from "./Calculator.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { app: App }): void => void app.component("Calculator", Calculator),
};
