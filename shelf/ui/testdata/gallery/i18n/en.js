export default {
  "gallery": "Gallery"
};
